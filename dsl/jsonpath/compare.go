package jsonpath

import (
	"cmp"
	"encoding/json"
	"strconv"
	"strings"
)

// condition is the condition of a filter.
type condition interface {
	holds(e *evaluation, current any) bool
}

type (
	either   []condition
	both     []condition
	negation struct{ condition condition }
	exists   struct{ query query }
)

func (c either) holds(e *evaluation, current any) bool {
	for _, o := range c {
		if o.holds(e, current) {
			return true
		}
	}
	return false
}

func (c both) holds(e *evaluation, current any) bool {
	for _, o := range c {
		if !o.holds(e, current) {
			return false
		}
	}
	return true
}

func (c negation) holds(e *evaluation, current any) bool { return !c.condition.holds(e, current) }

func (c exists) holds(e *evaluation, current any) bool { return len(e.run(c.query, current)) > 0 }

// term is an operand of a comparison. ok is false if it selects nothing.
type term interface {
	value(e *evaluation, current any) (v any, ok bool)
}

type literal struct{ v any }

func (l literal) value(*evaluation, any) (any, bool) { return l.v, true }

func (q query) value(e *evaluation, current any) (any, bool) {
	values := e.run(q, current)
	if len(values) != 1 {
		return nil, false
	}
	return values[0], true
}

type comparison struct {
	op          string
	left, right term
}

func (c comparison) holds(e *evaluation, current any) bool {
	a, hasA := c.left.value(e, current)
	b, hasB := c.right.value(e, current)
	switch c.op {
	case "==":
		return hasA == hasB && (!hasA || e.equal(a, b))
	case "!=":
		return hasA != hasB || hasA && !e.equal(a, b)
	case "<":
		return hasA && hasB && e.less(a, b)
	case ">":
		return hasA && hasB && e.less(b, a)
	case "<=":
		return hasA == hasB && (!hasA || e.less(a, b) || e.equal(a, b))
	default:
		return hasA == hasB && (!hasA || e.less(b, a) || e.equal(a, b))
	}
}

// equal compares deeply, and numbers by value.
func (e *evaluation) equal(a, b any) bool {
	e.visit(1)
	if n, ok := compareNumbers(a, b); ok {
		return n == 0
	}
	switch a := a.(type) {
	case []any:
		b, ok := b.([]any)
		if !ok || len(a) != len(b) {
			return false
		}
		for i := range a {
			if !e.equal(a[i], b[i]) {
				return false
			}
		}
		return true
	case map[string]any:
		b, ok := b.(map[string]any)
		if !ok || len(a) != len(b) {
			return false
		}
		for k, v := range a {
			if w, ok := b[k]; !ok || !e.equal(v, w) {
				return false
			}
		}
		return true
	case string:
		s, ok := b.(string)
		return ok && a == s
	case bool:
		t, ok := b.(bool)
		return ok && a == t
	case nil:
		return b == nil
	}
	return false
}

func (e *evaluation) less(a, b any) bool {
	if n, ok := compareNumbers(a, b); ok {
		return n < 0
	}
	s, ok := a.(string)
	t, also := b.(string)
	return ok && also && s < t
}

// compareNumbers compares two numbers, exactly if both are integers. ok is false
// if one is not a number.
func compareNumbers(a, b any) (order int, ok bool) {
	i, f, isInt, ok := number(a)
	if !ok {
		return 0, false
	}
	j, g, alsoInt, ok := number(b)
	if !ok {
		return 0, false
	}
	if isInt && alsoInt {
		return cmp.Compare(i, j), true
	}
	return cmp.Compare(f, g), true
}

func number(v any) (i int64, f float64, isInt, ok bool) {
	switch v := v.(type) {
	case float64:
		return 0, v, false, true
	case int:
		return int64(v), float64(v), true, true
	case int64:
		return v, float64(v), true, true
	case json.Number:
		text := v.String()
		if !strings.ContainsAny(text, ".eE") {
			if i, err := strconv.ParseInt(text, 10, 64); err == nil {
				return i, float64(i), true, true
			}
		}
		f, _ := strconv.ParseFloat(text, 64) // infinity if out of range
		return 0, f, false, true
	}
	return 0, 0, false, false
}
