package interval

import (
	"math"
	"unicode/utf8"

	"github.com/expr-lang/expr/ast"

	"github.com/pexctl/pex/dsl/guard"
)

// builtin evaluates a call of a function.
func (o *evaluator) builtin(n *ast.BuiltinNode) Range {
	if len(n.Arguments) == 0 {
		return Anything().failing()
	}
	first := o.eval(n.Arguments[0])
	o.checkArgument(n, n.Arguments[0], first)
	if len(n.Arguments) > 1 {
		if body, ok := n.Arguments[1].(*ast.PredicateNode); ok && len(n.Arguments) == 2 {
			return o.loop(n.Name, first, body)
		}
		return o.multiArgument(n, first)
	}
	return o.function(n.Name, first).failingIf(first.fails)
}

// function evaluates a call with one argument.
func (o *evaluator) function(name string, r Range) Range {
	switch name {
	case "len":
		return length(r)
	case "first", "last":
		return end(r)
	case "count":
		if r.hasOnly(isList) && r.elem != nil && r.elem.hasOnly(isBool) {
			return counted(r, *r.elem)
		}
	case "lower", "upper", "trim":
		return Text().failingIf(!r.hasOnly(isText) || len(o.loops) > 0)
	case "string":
		return Text().failingIf(len(o.loops) > 0)
	}
	return Anything().failing()
}

// multiArgument evaluates a call with several arguments, none of them a
// predicate.
func (o *evaluator) multiArgument(n *ast.BuiltinNode, first Range) Range {
	fails, texts := first.fails || len(o.loops) > 0, first.hasOnly(isText)
	for _, a := range n.Arguments[1:] {
		r := o.eval(a)
		o.checkArgument(n, a, r)
		fails, texts = fails || r.fails, texts && r.hasOnly(isText)
	}
	switch n.Name {
	case "trim", "trimPrefix", "trimSuffix":
		return Text().failingIf(fails || !texts)
	case "hasPrefix", "hasSuffix":
		return Truth().failingIf(fails || !texts)
	case "indexOf":
		return Whole(-1, math.Inf(1)).failingIf(fails || !texts)
	}
	return Anything().failing()
}

// loop evaluates a function that applies a predicate to a list.
func (o *evaluator) loop(name string, list Range, body ast.Node) Range {
	if !list.hasOnly(isList) {
		return Anything().failing()
	}
	if list.most == 0 {
		o.visitUnreached(body)
		return empty(name).failingIf(list.fails)
	}
	each := o.evalBody(list, body)
	out := o.loopOver(name, list, each)
	truths := name != "map" && name != "sum"
	return out.failingIf(list.fails || each.fails || truths && !each.hasOnly(isBool))
}

// empty returns the result of a loop over an empty list.
func empty(name string) Range {
	switch name {
	case "all", "none":
		return boolean(true, false)
	case "any", "one":
		return boolean(false, true)
	case "count", "sum":
		return Whole(0, 0)
	case "filter", "map":
		return Range{kinds: isList}
	case "find", "findIndex":
		return Nothing()
	}
	return Anything().failing()
}

// loopOver returns the result of a loop over a list with a predicate of range each.
func (o *evaluator) loopOver(name string, list, each Range) Range {
	never, always := each.kinds&isTrue == 0, each.kinds&isFalse == 0
	some := list.least > 0
	big := list.most > guard.MaxWork
	switch name {
	case "all":
		return boolean(!some || !never, !always)
	case "any":
		return boolean(!never, !some || !always)
	case "none":
		return boolean(!some || !always, !never)
	case "one":
		return boolean(!never && (!always || list.least < 2), !always || list.least != 1 || list.most != 1)
	case "count":
		return counted(list, each)
	case "filter":
		n := counted(list, each)
		return Range{kinds: isList, least: int(n.lo), most: lengthOf(n.hi), elem: list.elem}.failingIf(big)
	case "map":
		each.fails = false
		return Range{kinds: isList, least: list.least, most: list.most, elem: &each}.failingIf(big)
	case "find":
		return found(*list.elem, never, some && always)
	case "findIndex":
		return found(Whole(0, math.Inf(1)), never, some && always)
	}
	return Anything().failing()
}

func found(r Range, never, always bool) Range {
	switch {
	case never:
		return Nothing()
	case always:
		return r
	}
	return r.Or(Nothing())
}

// counted returns the range of the number of elements with a true predicate.
func counted(list, each Range) Range {
	out := Whole(0, math.Inf(1))
	if each.kinds&isFalse == 0 {
		out.lo = float64(list.least)
	}
	if list.most != endless {
		out.hi = float64(list.most)
	}
	if each.kinds&isTrue == 0 {
		out.lo, out.hi = 0, 0
	}
	return out
}

func lengthOf(f float64) int {
	if math.IsInf(f, 1) {
		return endless
	}
	return int(f)
}

// length is len of a text, in bytes or in characters.
func length(r Range) Range {
	out := Whole(0, math.Inf(1))
	switch {
	case r.hasOnly(isList):
		if out.lo = float64(r.least); r.most != endless {
			out.hi = float64(r.most)
		}
	case r.hasOnly(isText) && len(r.words) > 0:
		out.lo, out.hi = math.Inf(1), 0
		for _, w := range r.words {
			out.lo, out.hi = min(out.lo, float64(utf8.RuneCountInString(w))), max(out.hi, float64(len(w)))
		}
	case !r.hasOnly(isText) && !r.hasOnly(isObject):
		out.fails = true
	}
	return out
}

// end returns the first or the last element, or nil of an empty list.
func end(r Range) Range {
	switch {
	case !r.hasOnly(isList) || r.elem == nil && r.most > 0:
		return Anything().failing()
	case r.most == 0:
		return Nothing()
	case r.least > 0:
		return *r.elem
	}
	return r.elem.Or(Nothing())
}
