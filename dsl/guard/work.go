package guard

import (
	"math"
	"reflect"

	"github.com/expr-lang/expr/ast"
	"github.com/pexctl/pex/engine/exprenv"
)

// MaxWork is the budget of one evaluation for nested loops and joined texts, and
// the maximum number of list elements that it creates. A unit is one element, or
// 16 bytes of text.
const MaxWork = 200_000

// make counts the list elements that the expression creates.
func (e *evaluation) make(n ast.Node, elements int) {
	if e.elements += elements; e.elements > MaxWork {
		fail(n, "", "the expression creates lists of more than %d elements", MaxWork)
	}
}

// spend charges the budget.
func (e *evaluation) spend(n ast.Node, units int) {
	if e.work += units; e.work > MaxWork {
		fail(n, "", "the expression is too expensive: more than %d steps in nested loops", MaxWork)
	}
}

// charge charges the budget for a function in a loop. deep includes everything
// within the value.
func (e *evaluation) charge(n ast.Node, v any, deep bool) {
	if len(e.loops) == 0 || constantNode(n) {
		return
	}
	if deep {
		e.spend(n, weight(v, MaxWork))
		return
	}
	e.spend(n, size(v))
}

// size returns the units of a value without its content.
func size(v any) int {
	v, _ = unwrap(v)
	switch v := v.(type) {
	case nil, bool, int, float64:
		return 1
	case string:
		return 1 + len(v)/16
	case []any:
		return 1 + len(v)
	case map[string]any:
		return 1 + len(v)
	}
	if r := reflect.ValueOf(v); r.Kind() == reflect.Slice || r.Kind() == reflect.Map {
		return 1 + r.Len()
	}
	return 1
}

// weight returns the units of a value with its content, up to limit.
func weight(v any, limit int) int {
	v, _ = unwrap(v)
	units := size(v)
	add := func(e any) bool {
		if units <= limit {
			units += weight(e, limit-units)
		}
		return units <= limit
	}
	switch v := v.(type) {
	case []any:
		for i := 0; i < len(v) && add(v[i]); i++ {
		}
	case map[string]any:
		for _, e := range v {
			if !add(e) {
				break
			}
		}
	case exprenv.Step:
		_ = add(v.Result) && add(v.Output)
	case []exprenv.Step:
		for i := 0; i < len(v) && add(v[i]); i++ {
		}
	}
	return min(units, math.MaxInt32)
}
