package doctest

import (
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"
)

// Block is a fenced block of a page, or a marker that stands for none.
type Block struct {
	// Line is where it begins in the page; the first line is 1.
	Line int
	// Lang is the first word behind the fence: yaml, console, sh, ...
	Lang string
	// File is the name of the file that it is; "" = it is none.
	File string
	// Body is what stands between the fences, with the newline at its end.
	Body string
	// Markers are the comments right above it by their words: over, terminal.
	Markers map[string]string

	from, to int // the lines of the body, counted from 0
}

// NotRun is why a block is not tried; "" = it is.
func (b Block) NotRun() string { return b.Markers["not run"] }

// Page is a page of the docs.
type Page struct {
	// Name is its path from the root of the repository, with slashes.
	Name string
	// Blocks are what is to be done, in the order of the page.
	Blocks []Block

	lines []string
}

// words are the markers: those that go with a block, and those that stand alone.
var (
	words = []string{"not run", "over", "terminal", "types"}
	alone = []string{"with", "run"}
)

var marker = regexp.MustCompile(`^ *<!-- ([a-z ]+): (.*) -->$`)

// Parse reads a page. An error names the line of a block that nobody would try:
// commands outside of console and sh, a marker that there is not.
func Parse(name, text string) (Page, error) {
	p := Page{Name: name, lines: strings.Split(text, "\n")}
	markers := map[string]string{}
	for i := 0; i < len(p.lines); i++ {
		line := p.lines[i]
		if m := marker.FindStringSubmatch(line); m != nil {
			switch {
			case slices.Contains(alone, m[1]):
				p.Blocks = append(p.Blocks, Block{Line: i + 1, Lang: m[1], Body: m[2]})
			case slices.Contains(words, m[1]):
				markers[m[1]] = m[2]
			default:
				return p, fmt.Errorf("%s:%d: there is no marker %q", name, i+1, m[1])
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
			return p, fmt.Errorf("%s:%d: a command that nobody tries: put it into a block of console or sh", name, i+1)
		}
		if strings.TrimSpace(line) != "" && len(markers) > 0 {
			return p, fmt.Errorf("%s:%d: the marker above belongs to no block", name, i+1)
		}
	}
	if len(markers) > 0 {
		return p, fmt.Errorf("%s: the marker at its end belongs to no block", name)
	}
	return p, nil
}

// block reads the one whose fence is at a line, and gives the line of its end.
func (p Page) block(at, indent int) (Block, int, error) {
	end := at + 1
	for end < len(p.lines) && strings.TrimSpace(p.lines[end]) != "```" {
		end++
	}
	if end == len(p.lines) {
		return Block{}, 0, fmt.Errorf("%s:%d: the block has no end", p.Name, at+1)
	}
	lang, file, _ := strings.Cut(strings.TrimPrefix(strings.TrimSpace(p.lines[at]), "```"), " ")
	b := Block{Line: at + 1, Lang: lang, File: strings.TrimSpace(file), from: at + 1, to: end}
	for _, line := range p.lines[b.from:end] {
		b.Body += cutIndent(line, indent) + "\n"
	}
	if b.File == "" {
		b.File = named(b)
	}
	if !slices.Contains([]string{"console", "sh", "diff", "yaml", "json", "md", "csv"}, lang) {
		for i, line := range strings.Split(b.Body, "\n") {
			if strings.HasPrefix(line, "$ ") || strings.HasPrefix(line, "pexctl ") {
				return b, 0, fmt.Errorf("%s:%d: a command that nobody tries: make the block console or sh", p.Name, at+2+i)
			}
		}
	}
	return b, end, nil
}

func cutIndent(line string, n int) string {
	return line[min(n, len(line)-len(strings.TrimLeft(line, " "))):]
}

// named is the file that the first line of a block says it is: a comment that
// is a path and nothing else, or the --- of a diff.
func named(b Block) string {
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
