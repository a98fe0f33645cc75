package jsonpath

import (
	"maps"
	"slices"
)

// evaluation is the state of one selection.
type evaluation struct {
	root any
	left int // remaining visits
}

func (e *evaluation) visit(n int) {
	if e.left -= n; e.left < 0 {
		panic(errTooMuch)
	}
}

// query is a path, from the root or from the current element.
type query struct {
	absolute bool
	segments []segment
}

// segment maps each value to some of its children or descendants.
type segment struct {
	descend   bool
	selectors []selector
}

// selector adds the children of v that it selects.
type selector interface {
	choose(e *evaluation, v any, out []any) []any
}

func (e *evaluation) run(q query, current any) []any {
	if q.absolute {
		current = e.root
	}
	values := []any{current}
	for _, s := range q.segments {
		var next []any
		for _, v := range values {
			next = e.segment(s, v, next)
		}
		values = next
	}
	return values
}

func (e *evaluation) segment(s segment, v any, out []any) []any {
	e.visit(1)
	for _, sel := range s.selectors {
		out = sel.choose(e, v, out)
	}
	if s.descend {
		for _, c := range e.children(v) {
			out = e.segment(s, c, out)
		}
	}
	return out
}

// children returns the elements of an array, or the members of an object sorted
// by name.
func (e *evaluation) children(v any) []any {
	switch v := v.(type) {
	case []any:
		e.visit(len(v))
		return v
	case map[string]any:
		e.visit(len(v))
		out := make([]any, 0, len(v))
		for _, k := range slices.Sorted(maps.Keys(v)) {
			out = append(out, v[k])
		}
		return out
	}
	return nil
}

type wildcard struct{}

func (wildcard) choose(e *evaluation, v any, out []any) []any { return append(out, e.children(v)...) }

type name string

func (n name) choose(_ *evaluation, v any, out []any) []any {
	if m, ok := v.(map[string]any); ok {
		if c, ok := m[string(n)]; ok {
			out = append(out, c)
		}
	}
	return out
}

type index int

func (i index) choose(_ *evaluation, v any, out []any) []any {
	list, _ := v.([]any)
	n := int(i)
	if n < 0 {
		n += len(list)
	}
	if n >= 0 && n < len(list) {
		out = append(out, list[n])
	}
	return out
}

// slice is start:end:step; omitted parts are nil.
type slice struct {
	start, end *int
	step       int
}

func (s slice) choose(e *evaluation, v any, out []any) []any {
	list, _ := v.([]any)
	n := len(list)
	bound := func(given *int, otherwise, least, most int) int {
		if given == nil {
			return otherwise
		}
		i := *given
		if i < 0 {
			i += n
		}
		return min(max(i, least), most)
	}
	e.visit(1)
	switch {
	case s.step > 0:
		for i, end := bound(s.start, 0, 0, n), bound(s.end, n, 0, n); i < end; i += s.step {
			e.visit(1)
			out = append(out, list[i])
		}
	case s.step < 0:
		for i, end := bound(s.start, n-1, -1, n-1), bound(s.end, -1, -1, n-1); i > end; i += s.step {
			e.visit(1)
			out = append(out, list[i])
		}
	}
	return out
}

// filter selects the children that match a condition.
type filter struct{ condition condition }

func (f filter) choose(e *evaluation, v any, out []any) []any {
	for _, c := range e.children(v) {
		if f.condition.holds(e, c) {
			out = append(out, c)
		}
	}
	return out
}

// singular reports whether the query selects at most one value.
func (q query) singular() bool {
	for _, s := range q.segments {
		if s.descend || len(s.selectors) != 1 {
			return false
		}
		switch s.selectors[0].(type) {
		case name, index:
		default:
			return false
		}
	}
	return true
}
