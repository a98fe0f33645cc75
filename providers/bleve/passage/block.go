package passage

import "strings"

// line is one line of a text, without its line break.
type line struct {
	from, to int
	text     string
	blank    bool
}

func linesOf(text string) (out []line) {
	for at := 0; at < len(text); {
		end, next := len(text), len(text)
		if i := strings.IndexByte(text[at:], '\n'); i >= 0 {
			end, next = at+i, at+i+1
		}
		if end > at && text[end-1] == '\r' {
			end--
		}
		t := text[at:end]
		out = append(out, line{at, end, t, strings.TrimSpace(t) == ""})
		at = next
	}
	return out
}

// block is a paragraph, a fenced code block or a heading.
type block struct {
	first, last int // indexes of lines
}

// section is what stands below a heading, that heading included.
type section struct {
	heading string
	blocks  []block
}

// sections reads all lines. A heading that has only a further heading below it
// begins the section of that one.
func (s *splitter) sections() (out []section) {
	var above outline
	cur, body := section{}, false
	for i := 0; i < len(s.lines); {
		if s.lines[i].blank {
			i++
			continue
		}
		if h, ok := s.heading(i); ok {
			if body {
				out, cur, body = append(out, cur), section{}, false
			}
			above.enter(h)
			cur.heading = above.String()
			cur.blocks = append(cur.blocks, block{i, i + h.lines - 1})
			i += h.lines
			continue
		}
		b := block{i, s.end(i)}
		cur.blocks, body = append(cur.blocks, b), true
		i = b.last + 1
	}
	if len(cur.blocks) > 0 {
		out = append(out, cur)
	}
	return out
}

// end is the last line of the block that begins at a line.
func (s *splitter) end(i int) int {
	if mark := s.fence(i); mark != "" {
		for j := i + 1; j < len(s.lines); j++ {
			if closes(s.lines[j].text, mark) {
				return j
			}
		}
		return s.lastOf(len(s.lines) - 1)
	}
	for j := i + 1; j < len(s.lines); j++ {
		if s.lines[j].blank || s.fence(j) != "" {
			return j - 1
		}
		if _, ok := s.heading(j); ok {
			return j - 1
		}
	}
	return len(s.lines) - 1
}

// lastOf is the last line up to one that is not blank.
func (s *splitter) lastOf(i int) int {
	for s.lines[i].blank {
		i--
	}
	return i
}

// fence is the mark that a code block begins with, or that front matter does;
// "" = the line is none.
func (s *splitter) fence(i int) string {
	t := strings.TrimSpace(s.lines[i].text)
	switch s.options.Format {
	case Markdown:
		if i == 0 && t == "---" {
			return t
		}
		return run(t, '`', '~')
	case ASCIIDoc:
		if t == "----" || t == "...." {
			return t
		}
	case Org:
		if rest, ok := strings.CutPrefix(strings.ToLower(t), "#+begin_"); ok {
			kind, _, _ := strings.Cut(rest, " ")
			return "#+end_" + kind
		}
	case Plain, ReStructured:
	}
	return ""
}

// closes says whether a line ends what a mark began.
func closes(text, mark string) bool {
	t := strings.TrimSpace(text)
	switch mark[0] {
	case '`', '~':
		return strings.HasPrefix(t, mark) && strings.Trim(t, mark[:1]) == ""
	}
	return strings.EqualFold(t, mark)
}

// run is the three or more marks that a text begins with, all alike.
func run(t string, marks ...byte) string {
	for _, m := range marks {
		n := len(t) - len(strings.TrimLeft(t, string(m)))
		if n >= 3 {
			return t[:n]
		}
	}
	return ""
}
