package guard

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/expr-lang/expr/ast"
)

// Stray is a word that is compared with a value which is never that word.
type Stray struct {
	Offset int    // of the word, in bytes into the source
	Name   string // of the value, as written: step.status, .status in a loop
	Word   string
	Words  []string // what the value may be, sorted
}

// Strays finds comparisons (==, != and in) with words that a value never is,
// in the order of the source.
func Strays(src string, env Env, b Bounds) []Stray {
	root := parsed(src, env)
	if root == nil {
		return nil
	}
	var out []Stray
	o := newOutlook(env, b)
	note := func(named, word ast.Node, r Range) {
		w, ok := word.(*ast.StringNode)
		name := nameOf(named)
		if !ok || name == "" || r.fails || r.kinds&isText == 0 || r.words == nil || slices.Contains(r.words, w.Value) {
			return
		}
		at := problemAt(src, w.Location().From, "", "").Offset
		if !slices.ContainsFunc(out, func(s Stray) bool { return s.Offset == at }) {
			out = append(out, Stray{at, name, w.Value, r.words})
		}
	}
	o.heard = func(n ast.Node, l, r Range) { compared(n, l, r, note) }
	o.eval(root)
	slices.SortFunc(out, func(a, b Stray) int { return a.Offset - b.Offset })
	return out
}

// compared tells of the sides of a comparison.
func compared(n ast.Node, l, r Range, note func(named, word ast.Node, r Range)) {
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

// nameOf is a chain of names as written; one in a loop begins with a dot.
func nameOf(n ast.Node) string {
	switch n := n.(type) {
	case *ast.ChainNode:
		return nameOf(n.Node)
	case *ast.MemberNode:
		if _, ok := n.Node.(*ast.PointerNode); ok {
			if name, ok := n.Property.(*ast.StringNode); ok {
				return "." + name.Value
			}
		}
	}
	return path(n)
}

// Known says in words what is known of the names in an expression, one a line,
// in the order in which they stand first.
func Known(src string, env Env, b Bounds) []string {
	root := parsed(src, env)
	if root == nil {
		return nil
	}
	k := &known{o: newOutlook(env, b)}
	ast.Walk(&root, k)
	return k.out
}

// known collects what is known of names.
type known struct {
	o   *outlook
	out []string
}

// Visit looks at one node; for ast.Walk.
func (k *known) Visit(node *ast.Node) {
	m, ok := (*node).(*ast.MemberNode)
	if !ok {
		return
	}
	name := path(m)
	if name == "" {
		return
	}
	r := k.o.eval(m)
	text := r.inWords()
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

// inWords says the bounds of a range; "" when there is nothing to say.
func (r Range) inWords() string {
	switch {
	case r.only(isNumber) && r.lo == r.hi:
		return "always " + decimal(r.lo)
	case r.only(isNumber) && !math.IsInf(r.hi, 1) && !math.IsInf(r.lo, -1) && (r.lo != 0 || r.why == ""):
		return "from " + decimal(r.lo) + " to " + decimal(r.hi)
	case r.only(isNumber) && !math.IsInf(r.hi, 1):
		return "at most " + decimal(r.hi)
	case r.only(isNumber) && !math.IsInf(r.lo, -1):
		return "at least " + decimal(r.lo)
	case r.only(isText) && len(r.words) == 1 && r.words[0] == "":
		return "always empty"
	case r.only(isText) && len(r.words) == 1:
		return "always " + strconv.Quote(r.words[0])
	case r.only(isText) && len(r.words) > 0:
		return "one of " + listed(r.words)
	case r.kinds == isNil:
		return "never there"
	case r.kinds == isTrue, r.kinds == isFalse:
		return "always " + strconv.FormatBool(r.kinds == isTrue)
	case r.only(isList) && r.most == 0:
		return "always empty"
	}
	return ""
}

func decimal(f float64) string { return strconv.FormatFloat(f, 'f', -1, 64) }

// listed is words as people list them; an empty one is said.
func listed(words []string) string {
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
