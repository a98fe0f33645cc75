package jsonpath

import (
	"errors"
	"fmt"
	"unicode/utf8"
)

// Path is a compiled path. It is immutable and safe for concurrent use.
type Path struct {
	source string
	query  query
}

// Problem is a mistake in a path.
type Problem struct {
	Offset  int // in bytes
	Message string
	Hint    string // how to fix it; "" if unknown
}

// Error returns the problem in one line.
func (p *Problem) Error() string {
	s := fmt.Sprintf("at byte %d: %s", p.Offset, p.Message)
	if p.Hint != "" {
		s += " (" + p.Hint + ")"
	}
	return s
}

// Limits of a source.
const (
	MaxSource = 4096 // bytes
	MaxDepth  = 32   // nested filters and parentheses
)

// maxVisits is the maximum number of values that one selection visits.
const maxVisits = 1_000_000

// errTooMuch aborts a selection.
var errTooMuch = errors.New("the path visits more than 1,000,000 values; use fewer descendants (..) and nested filters")

// Compile parses a path. The error is a *Problem.
func Compile(src string) (path *Path, err error) {
	if len(src) > MaxSource {
		return nil, &Problem{Message: fmt.Sprintf("the path has %d bytes; the maximum is %d", len(src), MaxSource)}
	}
	p := &parser{src: src}
	defer func() {
		if r := recover(); r != nil {
			problem, ok := r.(*Problem)
			if !ok {
				panic(r)
			}
			path, err = nil, problem
		}
	}()
	if !utf8.ValidString(src) {
		p.fail(0, "the path is not valid UTF-8", "")
	}
	return &Path{source: src, query: p.path()}, nil
}

// String returns the source.
func (p *Path) String() string { return p.source }

// Select returns the values that the path selects in v, in the order of the RFC.
// If nothing matches, it returns an empty list. The error reports that the
// selection would take too long. The values are those of v, not copies.
func (p *Path) Select(v any) (out []any, err error) {
	defer func() {
		if r := recover(); r != nil {
			if r != any(errTooMuch) {
				panic(r)
			}
			out, err = nil, errTooMuch
		}
	}()
	e := &evaluation{root: v, left: maxVisits}
	if out = e.run(p.query, v); out == nil {
		out = []any{}
	}
	return out, nil
}
