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

// Query says what to look for.
type Query struct {
	Text       string
	Regexp     bool // Text is an RE2 regular expression, else plain text
	IgnoreCase bool
	Context    int // lines shown before and after a match
}

// Matcher finds lines; safe for concurrent use.
type Matcher struct {
	plain   []byte         // plain text, in small letters when fold is set
	fold    bool           // ASCII letters of either case are the same
	line    *regexp.Regexp // for one line, when plain is nil
	block   *regexp.Regexp // for many lines at once; nil = not to be had
	context int
}

// Compile checks a query.
func Compile(q Query) (*Matcher, error) {
	switch {
	case q.Text == "":
		return nil, errors.New("the query is empty; pass the text to look for")
	case len(q.Text) > maxQuery:
		return nil, fmt.Errorf("the query is %d bytes long; %d are the most", len(q.Text), maxQuery)
	case bytes.ContainsAny([]byte(q.Text), "\n\r") && !q.Regexp:
		return nil, errors.New("the query holds a line break; lines are searched one by one, so pass a part of one line")
	}
	m := &Matcher{context: q.Context}
	if !q.Regexp && (!q.IgnoreCase || ascii(q.Text)) {
		m.plain, m.fold = []byte(q.Text), q.IgnoreCase
		if m.fold {
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
			return fmt.Errorf("the query is no RE2 expression: %s at %q; look-ahead and back references do not exist there, and regex false searches plain text", s.Code, s.Expr)
		}
		return fmt.Errorf("the query is no RE2 expression: %w", err)
	}
	if tree, err := syntax.Parse(src, syntax.Perl); err == nil && !anchored(tree) {
		m.block = regexp.MustCompile(flags + "(?m)" + src)
	}
	return nil
}

// anchored says whether an expression asks for the start or end of the text,
// which is another place in a line than in a block of lines.
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

// find returns where a line matches.
func (m *Matcher) find(line, lower []byte) (from, to int, ok bool) {
	if m.plain == nil {
		at := m.line.FindIndex(line)
		if at == nil {
			return 0, 0, false
		}
		return at[0], at[1], true
	}
	if m.fold {
		line = lower
	}
	from = bytes.Index(line, m.plain)
	return from, from + len(m.plain), from >= 0
}

// mayMatch says whether some line of a block can match.
func (m *Matcher) mayMatch(block, lower []byte) bool {
	switch {
	case m.plain == nil && m.block == nil:
		return true
	case m.plain == nil:
		return m.block.Match(block)
	case m.fold:
		return bytes.Contains(lower, m.plain)
	}
	return bytes.Contains(block, m.plain)
}

// overlap is how much of a piece of an over-long line the next piece repeats,
// so that a match across the cut is found.
func (m *Matcher) overlap() int {
	if m.plain == nil {
		return 4 << 10
	}
	return len(m.plain) - 1
}
