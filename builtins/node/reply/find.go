package reply

import (
	"strings"
	"unicode/utf8"
)

// source is a text to search for JSON, and the outcome of the search.
type source struct {
	text    string
	fixes   fix
	entire  bool   // the only candidate is the entire text
	tool    bool   // the text contains a tool call in markup
	endCode string // error code if the search stopped before the end of the text
	code    string
	detail  string // position of the syntax error
	reader  reader // of the entire text
}

// candidate is one value found in a text.
type candidate struct {
	value      value
	fixes      fix
	start, end int
}

// prepare validates and trims a text. It sets code if there is nothing to parse.
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

// candidates returns the values in a text: the entire text if it is one value, else what
// follows the reasoning, else all values found.
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
		return src.parseEscaped(o)
	}
	return s.found
}

// all parses the text as one value with nothing around it.
func (src *source) all(o Options) (candidate, bool) {
	r := &src.reader
	*r = reader{src: src.text, limit: o.maxDepth()}
	r.stack = r.few[:0]
	c := candidate{end: len(src.text)}
	if !r.value(&c.value) || !r.space() || r.pos != len(r.src) {
		return c, false
	}
	if v := &c.value; r.fixes != 0 && v.kind < array && !strings.HasPrefix(strings.TrimSpace(v.str), "{") {
		return c, false // a lone None, or prose in curly quotes
	}
	c.fixes, src.entire = r.fixes, true
	return c, true
}

// escaped parses JSON that is escaped as in a string but lacks the quotes: {\"a\":1}.
func (src *source) parseEscaped(o Options) []candidate {
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
	} else if inner.endCode != "" {
		src.code, src.endCode = inner.endCode, inner.endCode
	}
	return found
}

// plainText reads a JSON string that extends to the end of the text.
func (r *reader) plainText(v *value) bool {
	return r.text(v, false) && r.pos == len(r.src) && r.fixes&fixInnerQuotes == 0
}

// search scans a text from left to right.
type search struct {
	*source
	src    string
	pos    int
	limit  int
	found  []candidate
	wasted int // bytes read by failed attempts
}

// run collects the candidates. If there are none, it sets the source's code.
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
	case s.endCode != "":
		s.code = s.endCode
	case s.tool:
		s.code = ToolCallInPlan
	case emptyFence(s.src):
		s.code = Truncated
	default:
		s.code = NotJSON
	}
}

// attempt reads a value at an opening bracket. It returns false to end the search:
// the text after the start of a truncated value is part of that value, not a reply.
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
		s.endCode = TooDeep
		return false
	case r.fault == cut, r.pos >= len(s.src):
		s.endCode = Truncated
		if r.fault == broken {
			s.endCode = NotJSON
		}
		if r.progress {
			s.found = nil
		}
		return false
	}
	s.wasted += r.pos - s.pos + len(s.src)/64
	s.pos++
	if r.progress {
		s.pos = skip(s.src, r.pos, r.level)
	}
	return s.wasted <= 16*len(s.src)
}

// skip returns the end of a broken value at the given nesting level, so that its inner
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

// onOwnLines reports whether a candidate is on lines of its own, ignoring fences.
func (src *source) onOwnLines(c *candidate) bool {
	before, after := src.text[:c.start], src.text[c.end:]
	before = before[strings.LastIndexByte(before, '\n')+1:]
	after, _, _ = strings.Cut(after, "\n")
	before, after = strings.TrimSpace(before), strings.Trim(strings.TrimSpace(after), ";`")
	return after == "" && strings.Trim(before, "`") == "" || fenceLine(before) && after == ""
}

// fenceLine reports whether a line opens a fence, such as ```json.
func fenceLine(line string) bool {
	return strings.HasPrefix(line, "```") && !strings.ContainsAny(line[3:], " \t`")
}

// emptyFence reports whether a text ends right after an opening fence.
func emptyFence(s string) bool {
	i := strings.LastIndex(s, "```")
	return i >= 0 && strings.Count(s, "```")%2 == 1 && !strings.ContainsAny(strings.TrimSpace(s[i+3:]), " \n")
}
