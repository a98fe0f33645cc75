package interval

import (
	"math"
	"regexp"
	"slices"
	"strings"

	"github.com/expr-lang/expr/ast"
)

// equal is ==, which never fails.
func equal(l, r Range) Range {
	same := l.single() && r.single() && l.kinds == r.kinds && (l.kinds != isNumber || l.lo == r.lo) && (l.kinds != isText || l.words[0] == r.words[0])
	return boolean(mayEqual(l, r), !same)
}

// mayEqual reports whether two ranges have a value in common. A missing list or
// object equals nil.
func mayEqual(l, r Range) bool {
	const missing = isNil | isList | isObject
	both := l.kinds & r.kinds
	switch {
	case both&isBool != 0, both&isObject != 0, l.kinds&r.kinds&isNil != 0:
		return true
	case l.kinds&isNil != 0 && r.kinds&missing != 0, r.kinds&isNil != 0 && l.kinds&missing != 0:
		return true
	case both&isNumber != 0 && l.lo <= r.hi && r.lo <= l.hi && (!l.whole || !fraction(r)) && (!r.whole || !fraction(l)):
		return true
	case both&isList != 0 && l.least <= r.most && r.least <= l.most:
		return true
	}
	return both&isText != 0 && (l.words == nil || r.words == nil || slices.ContainsFunc(l.words, func(w string) bool { return slices.Contains(r.words, w) }))
}

// fraction reports whether a range is one number with a fraction.
func fraction(r Range) bool { return r.hasOnly(isNumber) && r.lo == r.hi && r.lo != math.Trunc(r.lo) }

// less is < or <= of numbers or texts. Other values fail.
func less(l, r Range, orEqual bool) Range {
	switch {
	case l.hasOnly(isNumber) && r.hasOnly(isNumber):
		yes, no := l.hi < r.lo, l.lo >= r.hi
		if orEqual {
			yes, no = l.hi <= r.lo, l.lo > r.hi
		}
		return boolean(!no, !yes)
	case l.hasOnly(isText) && r.hasOnly(isText):
		return comparePairs(l, r, func(a, b string) bool { return a < b || orEqual && a == b })
	}
	return Truth().failing()
}

// comparePairs compares all pairs of words. Texts with unknown words can compare either
// way.
func comparePairs(l, r Range, holds func(a, b string) bool) Range {
	if l.words == nil || r.words == nil || len(l.words)*len(r.words) > maxWords*4 {
		return Truth()
	}
	var yes, no bool
	for _, a := range l.words {
		for _, b := range r.words {
			h := holds(a, b)
			yes, no = yes || h, no || !h
		}
	}
	return boolean(yes, no)
}

// in searches for a value in a list, or for a key in an object. In a loop it is
// charged to the budget unless the list is a literal.
func (o *evaluator) in(right ast.Node, l, r Range) Range {
	list, isWritten := right.(*ast.ArrayNode)
	fails := len(o.loops) > 0 && !isWritten
	switch {
	case isWritten:
		return o.oneOf(l, list.Nodes)
	case r.hasOnly(isList):
		found := r.most > 0 && (r.elem == nil || mayEqual(l, *r.elem))
		return boolean(found, true).failingIf(fails)
	case r.hasOnly(isNil):
		return boolean(false, true)
	}
	return Truth().failingIf(fails || !r.hasOnly(isObject) || !l.hasOnly(isText) || r.fields == nil)
}

// oneOf evaluates whether a value is in a literal list.
func (o *evaluator) oneOf(v Range, list []ast.Node) Range {
	if v.hasOnly(isText) && len(v.words) > 1 {
		out := o.oneOf(Words(v.words[0]), list)
		for _, w := range v.words[1:] {
			out = out.Or(o.oneOf(Words(w), list))
		}
		return out
	}
	yes, no, fails, texts := false, true, false, len(list) > 0
	for _, e := range list {
		r := o.eval(e)
		same := equal(v, r)
		yes, no = yes || same.kinds == isTrue, no && same.kinds == isFalse
		fails, texts = fails || r.fails, texts && r.hasOnly(isText)
	}
	return boolean(!no, !yes).failingIf(fails || texts && !v.hasOnly(isText)) // a list of texts is searched by text
}

// texts evaluates an operator on texts. In a loop it is charged to the budget.
func (o *evaluator) texts(n *ast.BinaryNode, l, r Range) Range {
	if !l.hasOnly(isText) || !r.hasOnly(isText) {
		return Truth().failing()
	}
	fails := len(o.loops) > 0
	var out Range
	switch n.Operator {
	case "contains":
		out = comparePairs(l, r, strings.Contains)
	case "startsWith":
		out = comparePairs(l, r, strings.HasPrefix)
	case "endsWith":
		out = comparePairs(l, r, strings.HasSuffix)
	default:
		if r.words == nil || len(r.words) != 1 {
			return Truth().failing()
		}
		pattern, err := regexp.Compile(r.words[0])
		if err != nil {
			return Truth().failing()
		}
		return comparePairs(l, r, func(a, _ string) bool { return pattern.MatchString(a) }).failingIf(fails)
	}
	if r.single() && r.words[0] == "" {
		out = boolean(true, false)
	}
	return out.failingIf(fails)
}
