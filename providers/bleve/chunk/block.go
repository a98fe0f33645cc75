package chunk

import "strings"

// line is a line without its line break.
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
	first, last int // line indexes
}

// section is a heading and the blocks below it.
type section struct {
	heading string
	blocks  []block
}

// sections splits all lines. A heading directly followed by another heading joins the
// section of that one.
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

// end returns the last line of the block that starts at line i.
func (s *splitter) end(i int) int {
	if mark := s.fence(i); mark != "" {
		for j := i + 1; j < len(s.lines); j++ {
			if closesFence(s.lines[j].text, mark) {
				return j
			}
		}
		return s.lastNonBlank(len(s.lines) - 1)
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

// lastNonBlank returns the last line up to i that is not blank.
func (s *splitter) lastNonBlank(i int) int {
	for s.lines[i].blank {
		i--
	}
	return i
}

// fence returns the mark that ends a code block or front matter starting at a line; "" =
// none starts there.
func (s *splitter) fence(i int) string {
	t := strings.TrimSpace(s.lines[i].text)
	switch s.options.Format {
	case Markdown:
		if i == 0 && t == "---" {
			return t
		}
		return fenceMark(t, '`', '~')
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

// closesFence reports whether a line ends a block with that mark.
func closesFence(text, mark string) bool {
	t := strings.TrimSpace(text)
	switch mark[0] {
	case '`', '~':
		return strings.HasPrefix(t, mark) && strings.Trim(t, mark[:1]) == ""
	}
	return strings.EqualFold(t, mark)
}

// fenceMark returns the three or more identical marks at the start of a text, or "".
func fenceMark(t string, marks ...byte) string {
	for _, m := range marks {
		n := len(t) - len(strings.TrimLeft(t, string(m)))
		if n >= 3 {
			return t[:n]
		}
	}
	return ""
}
