package chunk

import (
	"strings"
	"unicode/utf8"
)

const maxTitle = 120 // maximum bytes of a title

// heading is a heading of one line, or of a line and its underline.
type heading struct {
	level int
	title string
	lines int
}

// heading parses the heading that starts at line i.
func (s *splitter) heading(i int) (heading, bool) {
	t := s.lines[i].text
	switch s.options.Format {
	case Markdown:
		if h, ok := markedHeading(t, "#", 6); ok {
			h.title = strings.TrimSpace(strings.TrimRight(h.title, "#"))
			return h, h.title != ""
		}
		return s.underlinedHeading(i, "=-")
	case ASCIIDoc:
		return markedHeading(t, "=", 6)
	case Org:
		return markedHeading(t, "*", 10)
	case ReStructured:
		return s.underlinedHeading(i, "=-~^\"'`#*+.:_")
	case Plain:
	}
	return heading{}, false
}

// markedHeading parses a heading with one mark per level: "## Title".
func markedHeading(t, mark string, maxLevel int) (heading, bool) {
	title := strings.TrimLeft(t, mark)
	n := len(t) - len(title)
	if n == 0 || n > maxLevel || !strings.HasPrefix(title, " ") && !strings.HasPrefix(title, "\t") {
		return heading{}, false
	}
	title = strings.TrimSpace(title)
	return heading{level: n, title: title, lines: 1}, title != ""
}

// underlinedHeading parses a line followed by an underline of at least its length; marks
// are in order of level. Text directly after other text is a paragraph, not a heading.
func (s *splitter) underlinedHeading(i int, marks string) (heading, bool) {
	if i+1 >= len(s.lines) || i > 0 && !s.lines[i-1].blank && s.rule(i-1, marks) < 0 {
		return heading{}, false
	}
	title := strings.TrimSpace(s.lines[i].text)
	level := s.rule(i+1, marks)
	if level < 0 || s.rule(i, marks) >= 0 {
		return heading{}, false
	}
	under := utf8.RuneCountInString(strings.TrimSpace(s.lines[i+1].text))
	if under < 3 || s.options.Format == ReStructured && under < utf8.RuneCountInString(title) {
		return heading{}, false
	}
	return heading{level: level + 1, title: title, lines: 2}, true
}

// rule returns the index of the mark that the line consists of, or -1.
func (s *splitter) rule(i int, marks string) int {
	t := strings.TrimSpace(s.lines[i].text)
	if t == "" || strings.Trim(t, t[:1]) != "" {
		return -1
	}
	return strings.IndexByte(marks, t[0])
}

// outline is the headings above a line, outermost first.
type outline []heading

func (o *outline) enter(h heading) {
	for len(*o) > 0 && (*o)[len(*o)-1].level >= h.level {
		*o = (*o)[:len(*o)-1]
	}
	for len(h.title) > maxTitle {
		_, width := utf8.DecodeLastRuneInString(h.title)
		h.title = h.title[:len(h.title)-width]
	}
	*o = append(*o, h)
}

// String joins the titles.
func (o outline) String() string {
	titles := make([]string, len(o))
	for i, h := range o {
		titles[i] = h.title
	}
	return strings.Join(titles, " > ")
}
