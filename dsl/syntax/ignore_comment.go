package syntax

import (
	"fmt"
	"strconv"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/pexctl/pex/engine/text"
)

// IgnoreWord starts a comment that ignores warnings.
const IgnoreWord = "pex:ignore"

// ignoreComment is one comment as written.
type ignoreComment struct {
	at     Position // of the #
	text   string   // from the #
	suffix string   // -file, or an invalid suffix
	codes  []ignoreCode
	reason string
	line   int  // the line it applies to; 0 for the file
	first  bool // it comes before everything that is not a comment
}

type ignoreCode struct {
	word string
	at   Position
}

var ignoreStart = text.Regexp(`(?:^|[ \t])(#[ \t]*)` + IgnoreWord + `(-[a-zA-Z-]+)?(?:[ \t:]|$)`)

// ignoreComments finds the comments of a file that ignore warnings. In a text, #
// does not start a comment: starts maps the lines within texts to the lines where
// the texts start.
func ignoreComments(src *Source) (out []ignoreComment, starts map[int]int) {
	src.lineStart(1)
	var words []int // offsets
	for n := range src.starts {
		line := src.line(n + 1)
		for _, m := range ignoreStart().FindAllStringSubmatchIndex(line, -1) {
			words = append(words, src.starts[n]+m[3])
		}
	}
	inText, starts := textsOfYAML(src, words)
	last := 0
	for _, at := range words {
		p := src.PositionAt(at)
		if inText[at] || p.Line == last {
			continue
		}
		if c, ok := readIgnore(src, p.Line, at-src.starts[p.Line-1]); ok {
			last = p.Line
			out = append(out, c)
		}
	}
	return out, starts
}

// readIgnore parses the comment of a line whose word starts at a byte. ok is
// false if the word is not at the start of a comment.
func readIgnore(src *Source, n, word int) (c ignoreComment, ok bool) {
	line := src.line(n)
	hash := strings.LastIndexByte(line[:word], '#')
	before := strings.TrimRight(line[:hash], " \t")
	if startsComment(before) {
		return c, false
	}
	c.at, c.text = src.PositionAt(src.starts[n-1]+hash), line[hash:]
	rest := word + len(IgnoreWord)
	if m := ignoreStart().FindStringSubmatch(" " + line[hash:]); m != nil {
		c.suffix = m[2]
	}
	rest += len(c.suffix)
	rest += len(line[rest:]) - len(strings.TrimLeft(line[rest:], " \t:"))
	c.codes, c.reason = codesOf(src, n, rest)
	alone := before == "" || before == "\xef\xbb\xbf"
	c.first = alone && firstComment(src, n)
	switch {
	case c.suffix == "-file":
	case alone:
		c.line = nextLine(src, n)
	default:
		c.line = n
	}
	return c, true
}

// startsComment reports whether a # in the text before another one already starts
// a comment, outside quotes.
func startsComment(before string) bool {
	for i := range len(before) {
		if before[i] == '#' && (i == 0 || before[i-1] == ' ' || before[i-1] == '\t') &&
			strings.Count(before[:i], `"`)%2 == 0 && strings.Count(before[:i], "'")%2 == 0 {
			return true
		}
	}
	return false
}

var codeWord = text.Regexp(`^[^\s,]+`)

// codesOf parses codes separated by commas, and the reason after them.
func codesOf(src *Source, n, from int) (codes []ignoreCode, reason string) {
	line := src.line(n)
	for {
		word := codeWord().FindString(line[from:])
		if word == "" {
			break
		}
		codes = append(codes, ignoreCode{strings.TrimSuffix(word, ":"), src.PositionAt(src.starts[n-1] + from)})
		from += len(word)
		rest := strings.TrimLeft(line[from:], " \t")
		if !strings.HasPrefix(rest, ",") {
			break
		}
		from = len(line) - len(strings.TrimLeft(rest[1:], " \t"))
	}
	return codes, strings.Trim(line[from:], " \t:-—")
}

// commentOrBlank reports whether a line contains only a comment, or nothing.
func commentOrBlank(line string) bool {
	line = strings.TrimLeft(strings.TrimPrefix(line, "\xef\xbb\xbf"), " \t")
	return line == "" || strings.HasPrefix(line, "#")
}

func firstComment(src *Source, n int) bool {
	for i := 1; i < n; i++ {
		if !commentOrBlank(src.line(i)) {
			return false
		}
	}
	return true
}

// nextLine returns the next line with more than a comment, or the line after the
// last one.
func nextLine(src *Source, n int) int {
	for n++; n <= len(src.starts) && commentOrBlank(src.line(n)); n++ {
		continue
	}
	return n
}

// keyOfFile returns the line of the key above `file: path`, if the key has its
// own line, or 0.
func keyOfFile(at Position) int {
	line := at.Source.line(at.Line)
	trimmed := strings.TrimLeft(line, " ")
	if !strings.HasPrefix(trimmed, "file:") {
		return 0
	}
	for n := at.Line - 1; n > 0; n-- {
		above := at.Source.line(n)
		if !commentOrBlank(above) {
			if len(above)-len(strings.TrimLeft(above, " ")) < len(line)-len(trimmed) {
				return n
			}
			return 0
		}
	}
	return 0
}

// maxIgnores is the maximum number of comments checked in a file.
const maxIgnores = 10_000

var ignoreMark = text.Regexp(`pexi\d{6}`)

// textsOfYAML reports which of the words at some offsets are in texts, and where
// multi-line texts start. It numbers the words and parses the file again: those
// that occur in a value are not comments.
func textsOfYAML(src *Source, words []int) (inText map[int]bool, starts map[int]int) {
	inText, starts = map[int]bool{}, map[int]int{}
	marked := []byte(string(src.Text))
	for i, at := range words {
		if i >= maxIgnores {
			inText[at] = true
			continue
		}
		copy(marked[at:], fmt.Sprintf("pexi%06d", i))
	}
	doc, second, err := DecodeYAML(marked)
	if err != nil {
		return inText, starts // the syntax error is reported, and nothing else
	}
	var walk func(*yaml.Node)
	walk = func(n *yaml.Node) {
		if n == nil {
			return
		}
		if n.Kind == yaml.ScalarNode {
			for _, mark := range ignoreMark().FindAllString(n.Value, -1) {
				if i, _ := strconv.Atoi(mark[4:]); i < len(words) {
					inText[words[i]] = true
				}
			}
			linesOfText(src, n, starts)
		}
		for _, c := range n.Content {
			walk(c)
		}
	}
	walk(doc)
	walk(second)
	return inText, starts
}

// linesOfText records the lines of a block scalar.
func linesOfText(src *Source, n *yaml.Node, starts map[int]int) {
	if n.Style&(yaml.LiteralStyle|yaml.FoldedStyle) == 0 {
		return
	}
	indent := -1
	for line := n.Line + 1; line <= len(src.starts); line++ {
		text := src.line(line)
		if strings.TrimSpace(text) == "" {
			continue
		}
		in := len(text) - len(strings.TrimLeft(text, " "))
		if indent < 0 {
			indent = in
		}
		if in < indent || in == 0 {
			return
		}
		starts[line] = n.Line
	}
}
