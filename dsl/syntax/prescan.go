package syntax

import (
	"bytes"
	"fmt"
)

// maxTokens limits the input of the parser, which would use too much memory
// before values can be counted.
const maxTokens = 2 * maxValues

// prescan checks limits before the parser runs, because the parser accepts up to
// 10,000 levels. It recognizes just enough YAML to skip quotes, comments and
// block scalars. It returns the offset at which a limit is exceeded and the
// message, or -1.
func prescan(src []byte) (offset int, why string) {
	s := scanner{src: src}
	for s.i < len(src) && s.why == "" {
		s.line()
	}
	if s.why == "" {
		return -1, ""
	}
	return s.i, s.why
}

type scanner struct {
	src    []byte
	i      int
	flow   int // open brackets and braces
	tokens int
	why    string
}

// line scans one line, with a block scalar or multi-line quoted text that it
// opens.
func (s *scanner) line() {
	start := s.i
	for s.i < len(s.src) && s.src[s.i] == ' ' {
		s.i++
	}
	indent := s.i - start
	if bytes.HasPrefix(s.src[s.i:], []byte("---")) && indent == 0 {
		s.flow = 0
	}
	dashes := 0
	for s.i < len(s.src) && s.why == "" && s.src[s.i] != '\n' {
		if s.flow == 0 && s.isDash() {
			dashes++
		}
		s.token(start)
	}
	if dashes > maxDepth {
		s.why = fmt.Sprintf("lists are nested more than %d levels deep", maxDepth)
	}
	if s.i < len(s.src) && s.why == "" {
		s.i++
	}
	if s.flow == 0 && opensBlock(s.src[start:max(start, s.i-1)]) {
		s.skipBlock(indent)
	}
}

func (s *scanner) isDash() bool {
	return (s.src[s.i] == '-' || s.src[s.i] == '?') && s.endsWord(s.i+1) && s.begins()
}

func (s *scanner) endsWord(i int) bool {
	return i >= len(s.src) || s.src[i] == ' ' || s.src[i] == '\n' || s.src[i] == '\t' || s.src[i] == '\r'
}

// begins reports whether a token can start here.
func (s *scanner) begins() bool {
	return s.i == 0 || bytes.IndexByte([]byte(" \t\n,[{:-"), s.src[s.i-1]) >= 0
}

// token scans one character, or a whole quoted text or comment.
func (s *scanner) token(lineStart int) {
	c := s.src[s.i]
	switch {
	case c == '#' && (s.i == lineStart || s.src[s.i-1] == ' ' || s.src[s.i-1] == '\t'):
		for s.i < len(s.src) && s.src[s.i] != '\n' {
			s.i++
		}
		return
	case (c == '"' || c == '\'') && s.begins():
		s.quote(c)
		return
	case (c == '[' || c == '{') && (s.flow > 0 || s.begins()):
		s.flow++
		s.count()
	case (c == ']' || c == '}') && s.flow > 0:
		s.flow--
	case c == ',' && s.flow > 0, c == ':' && (s.flow > 0 || s.endsWord(s.i+1)), s.flow == 0 && s.isDash():
		s.count()
	}
	if s.flow > maxDepth {
		s.why = fmt.Sprintf("values are nested more than %d levels deep", maxDepth)
		return
	}
	s.i++
}

func (s *scanner) count() {
	if s.tokens++; s.tokens > maxTokens {
		s.why = fmt.Sprintf("the file has more than %d values", maxValues)
	}
}

func (s *scanner) quote(q byte) {
	for s.i++; s.i < len(s.src); s.i++ {
		switch {
		case s.src[s.i] == '\\' && q == '"':
			s.i++
		case s.src[s.i] == q:
			s.i++
			return
		}
	}
	s.i = min(s.i, len(s.src))
}

// opensBlock reports whether a line ends in the header of a block scalar.
func opensBlock(line []byte) bool {
	if i := bytes.Index(line, []byte(" #")); i >= 0 {
		line = line[:i]
	}
	line = bytes.TrimRight(line, " \t\r\n")
	i := bytes.LastIndexAny(line, "|>")
	if i < 0 || len(line)-i > 3 || len(bytes.Trim(line[i+1:], "+-123456789")) > 0 {
		return false
	}
	before := bytes.TrimRight(line[:i], " ")
	if len(before) == 0 || len(before) == i {
		return len(before) == 0
	}
	return bytes.IndexByte([]byte(":-?"), before[len(before)-1]) >= 0
}

// skipBlock skips the lines of a block scalar: blank lines, and those indented
// more than its header.
func (s *scanner) skipBlock(indent int) {
	for s.i < len(s.src) {
		end := bytes.IndexByte(s.src[s.i:], '\n')
		if end < 0 {
			end = len(s.src) - s.i
		}
		line := bytes.TrimRight(s.src[s.i:s.i+end], " \r")
		if len(line) > 0 && len(line)-len(bytes.TrimLeft(line, " ")) <= indent {
			return
		}
		s.i = min(s.i+end+1, len(s.src))
	}
}
