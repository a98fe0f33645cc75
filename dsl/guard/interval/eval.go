package interval

import (
	"math"
	"slices"

	"github.com/expr-lang/expr/ast"

	"github.com/pexctl/pex/dsl/guard"
)

// Verdict is the result of a condition as far as it is known before a run.
type Verdict int

// Verdicts. Never and Always are certain: the condition evaluates without an
// error to this result for all values within the bounds.
const (
	Unknown Verdict = iota
	Never
	Always
)

// maxWords is the maximum number of texts to distinguish; a range with more
// allows any text.
const maxWords = 64

// Decide reports whether a condition always or never holds for values within
// bounds. A source that does not compile is Unknown.
func Decide(src string, env guard.Env, b Bounds) Verdict {
	r, sure := Eval(src, env, b)
	switch {
	case sure && r.kinds == isTrue:
		return Always
	case sure && r.kinds == isFalse:
		return Never
	}
	return Unknown
}

// Eval returns the range of an expression of any type for values within bounds.
// sure reports whether it cannot fail.
func Eval(src string, env guard.Env, b Bounds) (r Range, sure bool) {
	root := guard.Parse(src, env)
	if root == nil {
		return Anything(), false
	}
	r = newEvaluator(env, b).eval(root)
	return r, !r.fails
}

// evaluator evaluates an expression on ranges.
type evaluator struct {
	names     Bounds
	loops     []loopRange // innermost last
	onCompare func(n ast.Node, left, right Range)

	misuses *collector // wrong uses of arguments; nil if not checked
	present []string   // paths that are known not to be nil
}

// loopRange holds the ranges of # and #index.
type loopRange struct{ elem, index Range }

func newEvaluator(env guard.Env, b Bounds) *evaluator {
	return &evaluator{names: b.Over(TypeBounds(env))}
}

// eval returns the range of a node. Unsupported nodes can be anything, and can
// fail.
func (o *evaluator) eval(n ast.Node) Range {
	switch n := n.(type) {
	case *ast.NilNode:
		return Nothing()
	case *ast.BoolNode:
		return boolean(n.Value, !n.Value)
	case *ast.StringNode:
		return Words(n.Value)
	case *ast.IntegerNode:
		return Whole(float64(n.Value), float64(n.Value)).clampPrecision()
	case *ast.FloatNode:
		return Range{kinds: isNumber, lo: n.Value, hi: n.Value, whole: n.Value == math.Trunc(n.Value)}.clampPrecision()
	case *ast.IdentifierNode:
		return o.name(n.Value)
	case *ast.UnaryNode:
		r := o.eval(n.Node)
		o.operand(n, r)
		return unary(n.Operator, r)
	case *ast.BinaryNode:
		return o.binary(n)
	case *ast.ConditionalNode:
		return o.conditional(n)
	case *ast.ChainNode:
		return o.eval(n.Node)
	case *ast.MemberNode:
		return o.member(n)
	case *ast.BuiltinNode:
		return o.builtin(n)
	case *ast.PointerNode:
		return o.pointer(n.Name)
	default:
		return o.compound(n)
	}
}

// compound evaluates a node that contains other expressions.
func (o *evaluator) compound(n ast.Node) Range {
	switch n := n.(type) {
	case *ast.PredicateNode:
		return o.eval(n.Node)
	case *ast.VariableDeclaratorNode:
		return o.declaration(n)
	case *ast.SequenceNode:
		out, fails := Nothing(), false
		for _, part := range n.Nodes {
			out = o.eval(part)
			fails = fails || out.fails
		}
		return out.failingIf(fails)
	case *ast.ArrayNode:
		return o.array(n)
	case *ast.MapNode:
		return o.object(n)
	case *ast.SliceNode:
		return o.slice(n)
	}
	return Anything().failing()
}

func (o *evaluator) name(name string) Range {
	if r, ok := o.names[name]; ok {
		return r
	}
	return Anything().failing()
}

func (o *evaluator) declaration(n *ast.VariableDeclaratorNode) Range {
	value := o.eval(n.Value)
	inner := *o
	fails := value.fails
	value.fails = false
	inner.names = Bounds{n.Name: value}.Over(o.names)
	return inner.eval(n.Expr).failingIf(fails)
}

func (o *evaluator) conditional(n *ast.ConditionalNode) Range {
	when := o.eval(n.Cond)
	o.require(n.Cond, n.Cond, when, isBool, "a condition must be a boolean")
	fails := when.fails || !when.hasOnly(isBool)
	switch {
	case !fails && when.kinds == isTrue:
		return o.eval(n.Exp1)
	case !fails && when.kinds == isFalse:
		return o.eval(n.Exp2)
	}
	return o.evalGiven(n.Cond, true, n.Exp1).Or(o.evalGiven(n.Cond, false, n.Exp2)).failingIf(fails)
}

func (o *evaluator) pointer(name string) Range {
	if len(o.loops) == 0 {
		return Anything().failing()
	}
	l := o.loops[len(o.loops)-1]
	switch name {
	case "":
		return l.elem
	case "index":
		return l.index
	}
	return Anything().failing()
}

func (o *evaluator) array(n *ast.ArrayNode) Range {
	out := Range{kinds: isList, least: len(n.Nodes), most: len(n.Nodes)}
	for _, e := range n.Nodes {
		r := o.eval(e)
		out.fails = out.fails || r.fails
		r.fails = false
		out.elem = bothElements(out.elem, &r)
	}
	return out
}

func (o *evaluator) object(n *ast.MapNode) Range {
	out := Object(map[string]Range{})
	for _, p := range n.Pairs {
		pair, ok := p.(*ast.PairNode)
		if !ok {
			return Anything().failing()
		}
		key, ok := pair.Key.(*ast.StringNode)
		value := o.eval(pair.Value)
		if out.fails = out.fails || value.fails || !ok; !ok {
			continue
		}
		value.fails = false
		out.fields[key.Value] = value
	}
	return out
}

// member evaluates a field of an object or an element of a list. It can fail
// unless the field or the element certainly exists.
func (o *evaluator) member(n *ast.MemberNode) Range {
	from, key := o.eval(n.Node), o.eval(n.Property)
	if o.misuses != nil {
		o.checkMember(n, from, key)
	}
	var missing Range // the result of ?. instead of a failure
	if n.Optional && from.kinds&isNil != 0 {
		missing = Nothing()
		from.kinds &^= isNil
	}
	fails := from.fails || key.fails
	switch {
	case from.kinds == 0:
		return missing.failingIf(fails)
	case from.origin != nil && from.kinds&isObject != 0 && key.hasOnly(isText) && key.single():
		f := from.field(key.words[0])
		if from.named && f.fails {
			return f
		}
		if n.Optional && missing.kinds != 0 {
			f = f.Or(Nothing())
		}
		if slices.Contains(o.present, guard.Path(n)) {
			f.kinds &^= isNil
		}
		return f.failingIf(fails || !from.hasOnly(isObject))
	case from.hasOnly(isObject) && key.hasOnly(isText) && key.single():
		return missing.Or(from.field(key.words[0])).Because(from.field(key.words[0]).why).failingIf(fails)
	case from.hasOnly(isList) && key.hasOnly(isNumber) && key.single() && key.whole && from.elem != nil:
		at := key.lo
		beyond := at >= float64(from.least) || at < -float64(from.least)
		return missing.Or(*from.elem).failingIf(fails || beyond)
	}
	return Anything().failing()
}

func (o *evaluator) slice(n *ast.SliceNode) Range {
	of := o.eval(n.Node)
	of.least, of.words = 0, nil
	return of.failing() // its bounds are not evaluated
}

// evalBody evaluates a loop's body for the elements of a list.
func (o *evaluator) evalBody(list Range, body ast.Node) Range {
	inner := *o
	if len(list.variants) > 0 {
		return o.evalVariants(list, body)
	}
	elem := Anything().failing()
	if list.elem != nil {
		elem = *list.elem
	}
	last := math.Inf(1)
	if list.most != endless {
		last = float64(max(list.most-1, 0))
	}
	inner.loops = append(slices.Clip(o.loops), loopRange{elem, Whole(0, last)})
	return inner.eval(body)
}

// evalVariants is like evalBody, for a list whose elements have several forms: it
// evaluates the body for each.
func (o *evaluator) evalVariants(list Range, body ast.Node) (out Range) {
	for i, v := range list.variants {
		one := list
		one.variants, one.elem = nil, &v
		r := o.evalBody(one, body)
		if i == 0 {
			out = r
			continue
		}
		out = out.Or(r)
	}
	return out
}
