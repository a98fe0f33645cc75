package reply

import (
	"strings"
	"unicode/utf8"
)

// source is a text that is searched for JSON, and what the search found out.
type source struct {
	text   string
	fixes  fix
	whole  bool   // the one candidate is all of the text
	tool   bool   // a tool call in markup stands in it
	ended  string // the code of what ended the search before the text's end
	code   string
	detail string // where the JSON broke
}

// candidate is one value that stands in a text.
type candidate struct {
	value      value
	fixes      fix
	start, end int
}

// prepare bounds and cleans a text. Its code is set where nothing can be read.
func prepare(text string, o Options) *source {
	src := &source{text: text}
	if len(text) > o.maxBytes() {
		src.code = TooLarge
		return src
	}
	if !utf8.ValidString(text) {
		src.text = strings.ToValidUTF8(text, "\uFFFD")
		src.fixes |= fixUTF8
	}
	src.text = strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(src.text), "\uFEFF"))
	if src.text == "" {
		src.code = EmptyOutput
	}
	return src
}

// candidates lists the values of a text: the text itself where all of it is
// one, else what stands behind the reasoning, else what stands anywhere.
func (src *source) candidates(o Options) []candidate {
	if c, ok := src.all(o); ok {
		return []candidate{c}
	}
	if n := reasoningEnd(src.text); n > 0 {
		src.text = strings.TrimSpace(src.text[n:])
		if src.text == "" {
			src.code = EmptyOutput
			return nil
		}
		if c, ok := src.all(o); ok {
			return []candidate{c}
		}
	}
	s := search{source: src, src: src.text, limit: o.maxDepth()}
	s.run()
	if len(s.found) == 0 && src.code == NotJSON {
		return src.escaped(o)
	}
	return s.found
}

// all reads the text as one value with nothing around it.
func (src *source) all(o Options) (candidate, bool) {
	var stack [8]value
	r := reader{src: src.text, limit: o.maxDepth(), stack: stack[:0]}
	c := candidate{end: len(src.text)}
	if !r.value(&c.value) || !r.space() || r.pos != len(r.src) {
		return c, false
	}
	if v := &c.value; r.fixes != 0 && v.kind < array && !strings.HasPrefix(strings.TrimSpace(v.str), "{") {
		return c, false // a lone None, or prose in curly quotes
	}
	c.fixes, src.whole = r.fixes, true
	return c, true
}

// escaped reads JSON that lost only the quotes around its string: {\"a\":1}.
func (src *source) escaped(o Options) []candidate {
	if !strings.Contains(src.text, `\"`) || src.fixes&fixStringified != 0 {
		return nil
	}
	var v value
	r := reader{src: `"` + src.text + `"`, limit: 1}
	if !r.plainText(&v) {
		return nil
	}
	inner := source{text: strings.TrimSpace(v.str), fixes: src.fixes | fixStringified}
	found := inner.candidates(o)
	if len(found) > 0 {
		*src = inner
	} else if inner.ended != "" {
		src.code, src.ended = inner.ended, inner.ended
	}
	return found
}

// plainText reads a JSON string that reaches to the end, escapes and all.
func (r *reader) plainText(v *value) bool {
	return r.text(v, false) && r.pos == len(r.src) && r.fixes&fixInnerQuotes == 0
}

// search walks a text from left to right.
type search struct {
	*source
	src   string
	pos   int
	limit int
	found []candidate
	spent int // bytes read by attempts that failed
}

// run collects the candidates; without any, the source's code says why.
func (s *search) run() {
	s.tool = strings.Contains(s.src, "[TOOL_CALLS]")
	for more := true; more; {
		n := strings.IndexAny(s.src[s.pos:], "{[<")
		if n < 0 {
			break
		}
		s.pos += n
		if s.src[s.pos] == '<' {
			more = s.tag()
		} else {
			more = s.attempt()
		}
	}
	switch {
	case len(s.found) > 0:
	case s.ended != "":
		s.code = s.ended
	case s.tool:
		s.code = ToolCallInPlan
	case emptyFence(s.src):
		s.code = Truncated
	default:
		s.code = NotJSON
	}
}

// attempt reads a value where a bracket opens; false ends the search. What
// follows a value that the text cuts off belongs to that value, so nothing in
// it may be taken for a reply.
func (s *search) attempt() bool {
	r := reader{src: s.src, pos: s.pos, limit: s.limit}
	var v value
	if r.value(&v) {
		s.found = append(s.found, candidate{value: v, fixes: r.fixes, start: s.pos, end: r.pos})
		s.pos = r.pos
		return true
	}
	if s.detail == "" && (r.progress || s.pos == 0) {
		s.detail = r.where()
	}
	switch {
	case r.fault == deep:
		s.ended = TooDeep
		return false
	case r.fault == cut, r.pos >= len(s.src):
		s.ended = Truncated
		if r.fault == broken {
			s.ended = NotJSON
		}
		if r.progress {
			s.found = nil
		}
		return false
	}
	s.spent += r.pos - s.pos + len(s.src)/64
	s.pos++
	if r.progress {
		s.pos = skip(s.src, r.pos, r.level)
	}
	return s.spent <= 16*len(s.src)
}

// skip finds the end of a value that broke off at a depth, so that its inner
// parts are not taken for a reply.
func skip(src string, pos, level int) int {
	quoted := false
	for ; pos < len(src) && level > 0; pos++ {
		switch c := src[pos]; {
		case c == '\\' && quoted:
			pos++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '{' || c == '[':
			level++
		case c == '}' || c == ']':
			level--
		}
	}
	return min(pos, len(src))
}

// alone says whether a candidate has its lines for itself, fences aside.
func (src *source) alone(c *candidate) bool {
	before, after := src.text[:c.start], src.text[c.end:]
	before = before[strings.LastIndexByte(before, '\n')+1:]
	after, _, _ = strings.Cut(after, "\n")
	before, after = strings.TrimSpace(before), strings.Trim(strings.TrimSpace(after), ";`")
	return after == "" && strings.Trim(before, "`") == "" || fenceLine(before) && after == ""
}

// fenceLine says whether a line opens a fence: ```json.
func fenceLine(line string) bool {
	return strings.HasPrefix(line, "```") && !strings.ContainsAny(line[3:], " \t`")
}

// emptyFence says whether a text ends right after it opened a fence.
func emptyFence(s string) bool {
	i := strings.LastIndex(s, "```")
	return i >= 0 && strings.Count(s, "```")%2 == 1 && !strings.ContainsAny(strings.TrimSpace(s[i+3:]), " \n")
}
