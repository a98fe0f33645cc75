package grep

import (
	"bytes"
	"errors"
	"fmt"
	"regexp"
	"regexp/syntax"
	"slices"
	"unicode/utf8"
)

const maxQuery = 1000 // bytes

// Query is a search query.
type Query struct {
	Text       string
	Regexp     bool // Text is an RE2 regular expression, not plain text
	IgnoreCase bool
	Context    int // lines shown before and after a match
}

// Matcher finds lines. It is safe for concurrent use.
type Matcher struct {
	plain      []byte         // plain text, in lower case if fold is set
	ignoreCase bool           // ignore the case of ASCII letters
	line       *regexp.Regexp // matches one line, used if plain is nil
	block      *regexp.Regexp // matches blocks of lines; nil = not available
	context    int
}

// Compile validates a query and returns its Matcher.
func Compile(q Query) (*Matcher, error) {
	switch {
	case q.Text == "":
		return nil, errors.New("the query is empty; pass the text to look for")
	case len(q.Text) > maxQuery:
		return nil, fmt.Errorf("the query is %d bytes long; the limit is %d", len(q.Text), maxQuery)
	case bytes.ContainsAny([]byte(q.Text), "\n\r") && !q.Regexp:
		return nil, errors.New("the query contains a line break; lines are searched one by one, so pass part of one line")
	}
	m := &Matcher{context: q.Context}
	if !q.Regexp && (!q.IgnoreCase || ascii(q.Text)) {
		m.plain, m.ignoreCase = []byte(q.Text), q.IgnoreCase
		if m.ignoreCase {
			m.plain = bytes.ToLower(m.plain)
		}
		return m, nil
	}
	return m, m.compile(q)
}

func (m *Matcher) compile(q Query) error {
	src, flags := q.Text, ""
	if !q.Regexp {
		src = regexp.QuoteMeta(src)
	}
	if q.IgnoreCase {
		flags = "(?i)"
	}
	var err error
	if m.line, err = regexp.Compile(flags + src); err != nil {
		if s, ok := errors.AsType[*syntax.Error](err); ok {
			return fmt.Errorf("the query is not a valid RE2 expression: %s at %q; RE2 has no look-ahead or backreferences; pass regex: false to search plain text", s.Code, s.Expr)
		}
		return fmt.Errorf("the query is not a valid RE2 expression: %w", err)
	}
	if tree, err := syntax.Parse(src, syntax.Perl); err == nil && !anchored(tree) {
		m.block = regexp.MustCompile(flags + "(?m)" + src)
	}
	return nil
}

// anchored reports whether an expression refers to the start or end of the text, which
// differs between a line and a block of lines.
func anchored(re *syntax.Regexp) bool {
	if re.Op == syntax.OpBeginText || re.Op == syntax.OpEndText {
		return true
	}
	return slices.ContainsFunc(re.Sub, anchored)
}

func ascii(s string) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// find returns the position of the match in a line.
func (m *Matcher) find(line, lower []byte) (from, to int, ok bool) {
	if m.plain == nil {
		at := m.line.FindIndex(line)
		if at == nil {
			return 0, 0, false
		}
		return at[0], at[1], true
	}
	if m.ignoreCase {
		line = lower
	}
	from = bytes.Index(line, m.plain)
	return from, from + len(m.plain), from >= 0
}

// mayMatch reports whether a line of the block may match.
func (m *Matcher) mayMatch(block, lower []byte) bool {
	switch {
	case m.plain == nil && m.block == nil:
		return true
	case m.plain == nil:
		return m.block.Match(block)
	case m.ignoreCase:
		return bytes.Contains(lower, m.plain)
	}
	return bytes.Contains(block, m.plain)
}

// overlap returns how many bytes of a piece of an over-long line are repeated in the next
// piece, so that a match across the boundary is found.
func (m *Matcher) overlap() int {
	if m.plain == nil {
		return 4 << 10
	}
	return len(m.plain) - 1
}
