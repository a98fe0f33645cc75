package doctest

import (
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"
)

// Block is a fenced block of a page, or a marker without a block.
type Block struct {
	// Line is its first line in the page, 1-based.
	Line int
	// Lang is the first word after the fence: yaml, console, sh, ...
	Lang string
	// File is the name of the file that the block contains, or "".
	File string
	// Body is the text between the fences, including the last newline.
	Body string
	// Markers are the comments directly above the block, by their name: over, terminal.
	Markers map[string]string

	from, to int // line range of the body, 0-based
}

// NotRun returns why a block is not executed, or "".
func (b Block) NotRun() string { return b.Markers["not run"] }

// Page is a documentation page.
type Page struct {
	// Name is its path relative to the repository, slash-separated.
	Name string
	// Blocks are the blocks in page order.
	Blocks []Block

	lines []string
}

// blockMarkers matches the markers: those that apply to a block, and those without one.
var (
	blockMarkers      = []string{"not run", "over", "terminal", "types"}
	standaloneMarkers = []string{"with", "run"}
)

var marker = regexp.MustCompile(`^ *<!-- ([a-z ]+): (.*) -->$`)

// Parse parses a page. It returns an error for blocks that would not be executed: commands outside of console and sh
// blocks, and unknown markers.
func Parse(name, text string) (Page, error) {
	p := Page{Name: name, lines: strings.Split(text, "\n")}
	markers := map[string]string{}
	for i := 0; i < len(p.lines); i++ {
		line := p.lines[i]
		if m := marker.FindStringSubmatch(line); m != nil {
			switch {
			case slices.Contains(standaloneMarkers, m[1]):
				p.Blocks = append(p.Blocks, Block{Line: i + 1, Lang: m[1], Body: m[2]})
			case slices.Contains(blockMarkers, m[1]):
				markers[m[1]] = m[2]
			default:
				return p, fmt.Errorf("%s:%d: unknown marker %q", name, i+1, m[1])
			}
			continue
		}
		indent := len(line) - len(strings.TrimLeft(line, " "))
		if strings.HasPrefix(line[indent:], "```") {
			b, end, err := p.block(i, indent)
			if err != nil {
				return p, err
			}
			b.Markers, markers = markers, map[string]string{}
			p.Blocks = append(p.Blocks, b)
			i = end
			continue
		}
		if strings.HasPrefix(line, "    $ ") || strings.HasPrefix(line, "    pexctl ") {
			return p, fmt.Errorf("%s:%d: command outside of a console or sh block", name, i+1)
		}
		if strings.TrimSpace(line) != "" && len(markers) > 0 {
			return p, fmt.Errorf("%s:%d: the marker above has no block", name, i+1)
		}
	}
	if len(markers) > 0 {
		return p, fmt.Errorf("%s: the marker at the end has no block", name)
	}
	return p, nil
}

// block parses the block whose fence is at a line, and returns the line of its end.
func (p Page) block(at, indent int) (Block, int, error) {
	end := at + 1
	for end < len(p.lines) && strings.TrimSpace(p.lines[end]) != "```" {
		end++
	}
	if end == len(p.lines) {
		return Block{}, 0, fmt.Errorf("%s:%d: the block is not closed", p.Name, at+1)
	}
	lang, file, _ := strings.Cut(strings.TrimPrefix(strings.TrimSpace(p.lines[at]), "```"), " ")
	b := Block{Line: at + 1, Lang: lang, File: strings.TrimSpace(file), from: at + 1, to: end}
	for _, line := range p.lines[b.from:end] {
		b.Body += cutIndent(line, indent) + "\n"
	}
	if b.File == "" {
		b.File = fileName(b)
	}
	if !slices.Contains([]string{"console", "sh", "diff", "yaml", "json", "md", "csv"}, lang) {
		for i, line := range strings.Split(b.Body, "\n") {
			if strings.HasPrefix(line, "$ ") || strings.HasPrefix(line, "pexctl ") {
				return b, 0, fmt.Errorf("%s:%d: command outside of a console or sh block", p.Name, at+2+i)
			}
		}
	}
	return b, end, nil
}

func cutIndent(line string, n int) string {
	return line[min(n, len(line)-len(strings.TrimLeft(line, " "))):]
}

// fileName returns the file name in the first line of a block: a comment with only a path, or the --- line of a diff.
func fileName(b Block) string {
	first, _, _ := strings.Cut(b.Body, "\n")
	switch b.Lang {
	case "yaml":
		if name, ok := strings.CutPrefix(first, "# "); ok && path.Ext(name) != "" && !strings.ContainsAny(name, " :") {
			return name
		}
	case "diff":
		if name, ok := strings.CutPrefix(first, "--- "); ok {
			return name
		}
	}
	return ""
}
