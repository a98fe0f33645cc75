package guard

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/expr-lang/expr/ast"

	"github.com/pexctl/pex/dsl/guard/exact"
)

// builtin evaluates a call of one of the allowed functions.
func (e *evaluation) builtin(n *ast.BuiltinNode) any {
	switch n.Name {
	case "all", "any", "none", "one", "filter", "map", "count", "sum", "find", "findIndex":
		return e.overList(n)
	case "lower", "upper", "trim", "trimPrefix", "trimSuffix", "hasPrefix", "hasSuffix", "indexOf":
		return e.ofTexts(n)
	case "min", "max", "mean", "median":
		return e.ofNumbers(n)
	}
	arg := n.Arguments[0]
	v := e.eval(arg)
	if n.Name != "len" && n.Name != "first" && n.Name != "last" {
		e.charge(arg, v, n.Name == "string")
	}
	switch n.Name {
	case "len":
		return e.length(arg, v)
	case "first", "last":
		return e.firstOrLast(n, v)
	case "string":
		if raw, strict := unwrap(v); raw == nil && strict {
			e.failMissing(arg, n, true, "")
		}
		return textOf(v)
	case "int", "float":
		return e.converted(n, arg, v)
	}
	return wholeNumber(n.Name, e.quantityOf(arg, n, v), n)
}

// list returns the value of a node that must be a list. strict reports whether it
// is an argument.
func (e *evaluation) list(n ast.Node) (list any, strict bool) {
	v := e.eval(n)
	e.charge(n, v, false)
	v, strict = unwrap(v)
	if kindOf(v) != kindList {
		e.failKind(n, n, v, strict, kindList)
	}
	return e.boxed(v), strict
}

// boxed converts a list of engine structs to a list of interfaces, once per list,
// even if several loops run over it.
func (e *evaluation) boxed(list any) any {
	r := reflect.ValueOf(list)
	if r.Type().Elem().Kind() != reflect.Struct {
		return list
	}
	key := boxKey{r.Type(), r.Pointer(), r.Len()}
	out, ok := e.boxes[key]
	if !ok {
		out = make([]any, r.Len())
		for i := range out {
			out[i] = r.Index(i).Interface()
		}
		if e.boxes == nil {
			e.boxes = map[boxKey][]any{}
		}
		e.boxes[key] = out
	}
	return out
}

// boxKey identifies a list of the engine.
type boxKey struct {
	of   reflect.Type
	at   uintptr
	size int
}

// overList evaluates a function of a list, in most cases with a predicate.
func (e *evaluation) overList(n *ast.BuiltinNode) any {
	list, strict := e.list(n.Arguments[0])
	f := listLoop{n: n, strict: strict, index: -1}
	if len(n.Arguments) > 1 {
		f.body = n.Arguments[1].(*ast.PredicateNode).Node
	}
	e.loops = append(e.loops, loopAt{})
	for i := range lengthOfValue(list) {
		elem := wrapStrict(element(list, i), strict)
		e.loops[len(e.loops)-1] = loopAt{elem, i}
		f.elem = elem
		if f.step(e, i) {
			break
		}
	}
	e.loops = e.loops[:len(e.loops)-1]
	return f.result()
}

// listLoop is the state of a function that runs over a list.
type listLoop struct {
	n      *ast.BuiltinNode
	body   ast.Node // nil for the element itself
	strict bool     // the list is an argument
	elem   any
	out    []any
	count  int
	total  exact.Number
	index  int // of the element that find looks for
}

// step evaluates one element. done reports whether the result is known.
func (f *listLoop) step(e *evaluation, i int) (done bool) {
	switch f.n.Name {
	case "map":
		f.out = append(f.out, f.value(e))
		e.make(f.n, 1)
		return false
	case "sum":
		if f.total == nil {
			f.total = 0
		}
		at := f.body
		if at == nil {
			at = f.n.Arguments[0]
		}
		f.total = e.arithmetic(f.n, "+", f.total, e.quantityOf(at, f.n, f.value(e)))
		return false
	}
	v, strict := unwrap(f.value(e))
	holds, ok := v.(bool)
	if !ok {
		at := f.body
		if at == nil {
			at = f.n.Arguments[0]
		}
		e.failKind(at, f.n, v, strict, kindBool)
	}
	if f.n.Name == "all" {
		holds = !holds // it looks for an element that does not match
	}
	if !holds {
		return false
	}
	f.count++
	switch f.n.Name {
	case "all", "any", "none":
		return true
	case "filter":
		f.out = append(f.out, f.elem)
		e.make(f.n, 1)
	case "find", "findIndex":
		f.index = i
		return true
	}
	return false
}

func (f *listLoop) value(e *evaluation) any {
	if f.body == nil {
		return f.elem
	}
	return e.eval(f.body)
}

func (f *listLoop) result() any {
	switch f.n.Name {
	case "all", "none":
		return f.count == 0
	case "any":
		return f.count > 0
	case "one":
		return f.count == 1
	case "count":
		return f.count
	case "sum":
		if f.total == nil {
			return 0
		}
		return f.total
	case "filter", "map":
		if f.out == nil {
			f.out = []any{}
		}
		return f.out
	}
	switch {
	case f.index < 0:
		return wrapStrict(nil, f.strict)
	case f.n.Name == "findIndex":
		return f.index
	}
	return f.elem
}

// ofTexts evaluates a function of one or two texts.
func (e *evaluation) ofTexts(n *ast.BuiltinNode) any {
	texts := make([]string, len(n.Arguments))
	for i, a := range n.Arguments {
		texts[i] = e.text(a)
		e.charge(a, texts[i], false)
	}
	s, with := texts[0], " "
	if len(texts) > 1 {
		with = texts[1]
	}
	switch n.Name {
	case "lower":
		return strings.ToLower(s)
	case "upper":
		return strings.ToUpper(s)
	case "trim":
		if len(texts) > 1 {
			return strings.Trim(s, with)
		}
		return strings.TrimSpace(s)
	case "trimPrefix":
		return strings.TrimPrefix(s, with)
	case "trimSuffix":
		return strings.TrimSuffix(s, with)
	case "hasPrefix":
		return strings.HasPrefix(s, with)
	case "hasSuffix":
		return strings.HasSuffix(s, with)
	}
	at := strings.Index(s, with)
	if at > 0 {
		at = utf8.RuneCountInString(s[:at])
	}
	return at
}

func (e *evaluation) length(n ast.Node, v any) int {
	raw, strict := unwrap(v)
	switch kindOf(raw) {
	case kindText:
		return utf8.RuneCountInString(raw.(string))
	case kindList:
		return lengthOfValue(raw)
	case kindObject:
		if reflect.TypeOf(raw).Kind() == reflect.Map {
			return lengthOfValue(raw)
		}
	case kindNil:
		e.failMissing(n, n, strict, "len takes a string, a list or an object, got nil")
	default:
	}
	fail(n, HintConvert, "len takes a string, a list or an object, got %s", kindNames[kindOf(raw)])
	return 0
}

// firstOrLast returns the first or the last element, or nil of an empty list.
func (e *evaluation) firstOrLast(n *ast.BuiltinNode, v any) any {
	raw, strict := unwrap(v)
	if raw == nil && strict || kindOf(raw) != kindList && kindOf(raw) != kindNil {
		e.failKind(n.Arguments[0], n, raw, strict, kindList)
	}
	size := lengthOfValue(raw)
	switch {
	case size == 0:
		return wrapStrict(nil, strict)
	case n.Name == "first":
		return wrapStrict(element(raw, 0), strict)
	}
	return wrapStrict(element(raw, size-1), strict)
}

// textOf returns a value as text.
func textOf(v any) string {
	v, _ = unwrap(v)
	if s, ok := v.(string); ok {
		return s
	}
	if q, ok := exact.Of(v); ok {
		return exact.Format(q)
	}
	return fmt.Sprint(plainValue(v))
}

// fieldNames returns the names of an object's fields, sorted.
func fieldNames(object any) []string {
	if m, ok := object.(map[string]any); ok {
		return slices.Sorted(maps.Keys(m))
	}
	r := reflect.ValueOf(object)
	if r.Kind() == reflect.Struct {
		return slices.Sorted(maps.Keys(fieldsByTag(r.Type())))
	}
	names := make([]string, 0, r.Len())
	for _, k := range r.MapKeys() {
		names = append(names, k.String())
	}
	slices.Sort(names)
	return names
}
