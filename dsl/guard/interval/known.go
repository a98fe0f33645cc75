package interval

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/expr-lang/expr/ast"

	"github.com/pexctl/pex/dsl/guard"
)

// UnknownWord is a word compared with a value that never is that word.
type UnknownWord struct {
	Offset int    // of the word, in bytes
	Name   string // of the value as written: step.status, .status in a loop
	Word   string
	Words  []string // possible values, sorted
}

// UnknownWords finds comparisons (==, != and in) with words that the value never
// is, in source order.
func UnknownWords(src string, env guard.Env, b Bounds) []UnknownWord {
	root := guard.Parse(src, env)
	if root == nil {
		return nil
	}
	var out []UnknownWord
	o := newEvaluator(env, b)
	note := func(named, word ast.Node, r Range) {
		w, ok := word.(*ast.StringNode)
		name := guard.NameOf(named)
		if !ok || name == "" || r.fails || r.kinds&isText == 0 || r.words == nil || slices.Contains(r.words, w.Value) {
			return
		}
		at := guard.Offset(src, w)
		if !slices.ContainsFunc(out, func(s UnknownWord) bool { return s.Offset == at }) {
			out = append(out, UnknownWord{at, name, w.Value, r.words})
		}
	}
	o.onCompare = func(n ast.Node, l, r Range) { visitComparison(n, l, r, note) }
	o.eval(root)
	slices.SortFunc(out, func(a, b UnknownWord) int { return a.Offset - b.Offset })
	return out
}

// visitComparison calls note for both sides of a comparison.
func visitComparison(n ast.Node, l, r Range, note func(named, word ast.Node, r Range)) {
	b, ok := n.(*ast.BinaryNode)
	if !ok {
		return
	}
	switch b.Operator {
	case "==", "!=":
		note(b.Left, b.Right, l)
		note(b.Right, b.Left, r)
	case "in":
		if list, ok := b.Right.(*ast.ArrayNode); ok {
			for _, e := range list.Nodes {
				note(b.Left, e, l)
			}
		}
	}
}

// Known describes what is known about the names in an expression, one per line,
// in order of first occurrence.
func Known(src string, env guard.Env, b Bounds) []string {
	root := guard.Parse(src, env)
	if root == nil {
		return nil
	}
	k := &known{o: newEvaluator(env, b)}
	ast.Walk(&root, k)
	return k.out
}

// known collects what is known about names.
type known struct {
	o   *evaluator
	out []string
}

// Visit implements ast.Visitor.
func (k *known) Visit(node *ast.Node) {
	m, ok := (*node).(*ast.MemberNode)
	if !ok {
		return
	}
	name := guard.Path(m)
	if name == "" {
		return
	}
	r := k.o.eval(m)
	text := r.describe()
	if r.fails || text == "" {
		return
	}
	if r.why != "" {
		text += " (" + r.why + ")"
	}
	if line := name + " is " + text; !slices.Contains(k.out, line) {
		k.out = append(k.out, line)
	}
}

// describe describes the bounds of a range; it returns "" if there are none.
func (r Range) describe() string {
	switch {
	case r.hasOnly(isNumber) && r.lo == r.hi:
		return "always " + decimal(r.lo)
	case r.hasOnly(isNumber) && !math.IsInf(r.hi, 1) && !math.IsInf(r.lo, -1) && (r.lo != 0 || r.why == ""):
		return "from " + decimal(r.lo) + " to " + decimal(r.hi)
	case r.hasOnly(isNumber) && !math.IsInf(r.hi, 1):
		return "at most " + decimal(r.hi)
	case r.hasOnly(isNumber) && !math.IsInf(r.lo, -1):
		return "at least " + decimal(r.lo)
	case r.hasOnly(isText) && len(r.words) == 1 && r.words[0] == "":
		return "always empty"
	case r.hasOnly(isText) && len(r.words) == 1:
		return "always " + strconv.Quote(r.words[0])
	case r.hasOnly(isText) && len(r.words) > 0:
		return "one of " + joinWords(r.words)
	case r.kinds == isNil:
		return "never set"
	case r.kinds == isTrue, r.kinds == isFalse:
		return "always " + strconv.FormatBool(r.kinds == isTrue)
	case r.hasOnly(isList) && r.most == 0:
		return "always empty"
	}
	return ""
}

func decimal(f float64) string { return strconv.FormatFloat(f, 'f', -1, 64) }

// joinWords formats words as a list; an empty one is shown as "empty".
func joinWords(words []string) string {
	const most = 12
	out := slices.Clone(words)
	if i := slices.Index(out, ""); i >= 0 {
		out = append(slices.Delete(out, i, i+1), "empty")
	}
	if len(out) > most {
		out = append(out[:most], "…")
	}
	return strings.Join(out, ", ")
}
