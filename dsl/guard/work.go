package guard

import (
	"math"
	"reflect"

	"github.com/expr-lang/expr/ast"
	"github.com/pexctl/pex/engine/exprenv"
)

// MaxWork is what one evaluation may spend on loops within loops and on joining
// texts, and how many elements the lists that it makes may have: one unit is an
// element, or 16 bytes of text.
const MaxWork = 200_000

// make counts elements of lists that the expression makes.
func (e *evaluation) make(n ast.Node, elements int) {
	if e.made += elements; e.made > MaxWork {
		fail(n, "", "the expression creates lists of more than %d elements", MaxWork)
	}
}

// spend draws on the budget.
func (e *evaluation) spend(n ast.Node, units int) {
	if e.spent += units; e.spent > MaxWork {
		fail(n, "", "the expression is too expensive: more than %d steps in nested loops", MaxWork)
	}
}

// charge spends what a function in a loop runs over; deep = all that the value
// holds.
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

// size is the units of a value without what it holds.
func size(v any) int {
	v, _ = open(v)
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

// weight is the units of a value with all it holds, counted to limit at most.
func weight(v any, limit int) int {
	v, _ = open(v)
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
