package guard

import (
	"fmt"

	"github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/file"
	"github.com/expr-lang/expr/parser/lexer"
	"github.com/expr-lang/expr/types"
)

// The caps of a source. They are checked before the compiler sees it, which
// has none of its own that comes in time.
const (
	MaxSource = 4096 // bytes
	MaxDepth  = 64   // brackets within brackets, or signs before signs
	MaxNodes  = 300  // parts of the expression
)

// checkSize refuses a source that is too long or too deep.
func checkSize(src string) *Problem {
	if len(src) > MaxSource {
		return problemAt(src[:0], 0, fmt.Sprintf("the expression has %d bytes; the most is %d", len(src), MaxSource), "split it into several guards")
	}
	tokens, err := lexer.Lex(file.NewSource(src))
	if err != nil {
		return explain(src, problemOf(src, err))
	}
	depth, signs := 0, 0
	for _, t := range tokens {
		switch {
		case t.Is(lexer.Bracket, "(", "[", "{"):
			depth++
		case t.Is(lexer.Bracket):
			depth--
		}
		if t.Is(lexer.Operator, "!", "not", "-", "+") {
			signs++
		} else {
			signs = 0
		}
		if depth > MaxDepth || signs > MaxDepth {
			return problemAt(src, t.From, fmt.Sprintf("the expression is nested more than %d deep", MaxDepth), "split it into several guards")
		}
	}
	return nil
}

// inspector finds what a parsed expression may not hold.
type inspector struct {
	src   string
	nodes int
	found *Problem
	names map[string]bool // the identifiers
	loose bool            // something untyped inside a typed value is used
}

// tooMany ends a walk: a chain like a < b < c shares its middle, so a walk over
// nested chains would take for ever.
type tooMany struct{}

// inspect refuses functions that are not allowed and expressions that are small
// in the source only.
func inspect(src string, root ast.Node) (in *inspector) {
	in = &inspector{src: src, names: map[string]bool{}}
	defer func() {
		if r := recover(); r != nil {
			if _, ok := r.(tooMany); !ok {
				panic(r)
			}
			in.found = problemAt(src, 0, fmt.Sprintf("the expression has more than %d parts", MaxNodes), "split it into several guards")
		}
	}()
	ast.Walk(&root, in)
	return in
}

// Visit looks at one node; for ast.Walk.
func (in *inspector) Visit(node *ast.Node) {
	if in.nodes++; in.nodes > MaxNodes {
		panic(tooMany{})
	}
	switch n := (*node).(type) {
	case *ast.BuiltinNode:
		if _, ok := allowed[n.Name]; !ok {
			in.refuse(n, "function "+n.Name+" cannot be used here", functionHint(n.Name))
		}
	case *ast.IdentifierNode:
		if in.names[n.Value] = true; n.Value == "$env" {
			in.refuse(n, "$env cannot be used here", "write the name itself")
		}
	case *ast.CallNode:
		if m, ok := n.Callee.(*ast.MemberNode); ok {
			name, _ := m.Property.(*ast.StringNode)
			if name != nil {
				in.refuse(n, "there are no methods: ."+name.Value+"()", methodHint(name.Value))
			} else {
				in.refuse(n, "a value cannot be called", "")
			}
		} else if _, ok := n.Callee.(*ast.IdentifierNode); !ok {
			in.refuse(n, "a value cannot be called", "")
		}
	case *ast.MemberNode:
		if name, ok := n.Property.(*ast.StringNode); ok {
			in.loose = in.loose || name.Value == "output" || name.Value == "args" || name.Value == "result"
		} else {
			in.loose = true
		}
	}
}

// json lists the names of the environment whose values may hold JSON numbers
// that the expression reads, sorted.
func (in *inspector) json(env Env) (out []string) {
	for _, name := range env.names() {
		if in.names[name] && (env.compiled[name] == types.Any || jsonInside[name] && in.loose) {
			out = append(out, name)
		}
	}
	return out
}

func (in *inspector) refuse(n ast.Node, message, hint string) {
	if in.found == nil {
		in.found = problemAt(in.src, n.Location().From, message, hint)
	}
}
