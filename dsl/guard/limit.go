package guard

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/file"
	"github.com/expr-lang/expr/parser/lexer"

	"github.com/pexctl/pex/dsl/diag"
	"github.com/pexctl/pex/dsl/guard/exact"
)

// Limits of a source. They are checked before the library compiles it, because
// its own limits apply too late.
const (
	MaxSource = 4096 // bytes
	MaxDepth  = 64   // nested brackets or signs
	MaxNodes  = 300  // nodes of the expression
)

// checkSize rejects a source that is too long or nested too deep.
func checkSize(src string) *Problem {
	if len(src) > MaxSource {
		return problemAt(src[:0], 0, fmt.Sprintf("the expression has %d bytes; the maximum is %d", len(src), MaxSource), "split it into several guards")
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
			return problemAt(src, t.From, fmt.Sprintf("the expression is nested more than %d levels deep", MaxDepth), "split it into several guards")
		}
	}
	return nil
}

// inspector finds what a parsed expression may not contain.
type inspector struct {
	src   string
	nodes int
	found *Problem
	// patterns are the literal regular expressions.
	patterns patterns
}

// tooMany ends a walk: a chain like a < b < c shares its middle, so a walk over
// nested chains would take exponential time.
type tooMany struct{}

// inspect rejects functions that are not allowed and expressions that expand
// beyond the limits.
func inspect(src string, root ast.Node) (in *inspector) {
	in = &inspector{src: src, patterns: patterns{}}
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

// Visit implements ast.Visitor.
func (in *inspector) Visit(node *ast.Node) {
	if in.nodes++; in.nodes > MaxNodes {
		panic(tooMany{})
	}
	switch n := (*node).(type) {
	case *ast.BuiltinNode:
		if _, ok := allowed[n.Name]; !ok {
			in.reject(n, "the function "+n.Name+" is not available", functionAdvice(n.Name))
		}
	case *ast.IdentifierNode:
		if n.Value == "$env" {
			in.refuse(n, "$env is not available", "write only the name")
		}
	case *ast.CallNode:
		if m, ok := n.Callee.(*ast.MemberNode); ok {
			name, _ := m.Property.(*ast.StringNode)
			if name != nil {
				in.refuse(n, "methods are not supported: ."+name.Value+"()", methodHint(name.Value))
			} else {
				in.refuse(n, "a value cannot be called", "")
			}
		} else if _, ok := n.Callee.(*ast.IdentifierNode); !ok {
			in.refuse(n, "a value cannot be called", "")
		}
	case *ast.FloatNode:
		in.number(n)
	case *ast.BinaryNode:
		in.pattern(n)
	}
}

// number rejects a number with more digits than the library keeps.
func (in *inspector) number(n *ast.FloatNode) {
	chars := []rune(in.src)
	at := n.Location()
	if at.To > len(chars) || at.From >= at.To {
		return
	}
	text := strings.ReplaceAll(string(chars[at.From:at.To]), "_", "")
	if written, ok := exact.Parse(text); !ok || exact.Rat(written).Cmp(exact.Rat(n.Value)) != 0 {
		in.refuse(n, "the number "+text+" has too many digits", "use at most 15 digits")
	}
}

// pattern compiles a literal regular expression.
func (in *inspector) pattern(n *ast.BinaryNode) {
	text, ok := n.Right.(*ast.StringNode)
	if n.Operator != "matches" || !ok {
		return
	}
	if p, err := regexp.Compile(text.Value); err == nil { // the library's check reports the error
		in.patterns[n] = p
	}
}

func (in *inspector) refuse(n ast.Node, message, hint string) {
	in.reject(n, message, diag.Advice{Hint: hint})
}

// reject reports a part of the expression. The first report wins.
func (in *inspector) reject(n ast.Node, message string, advice diag.Advice) {
	if in.found == nil {
		in.found = problemAt(in.src, n.Location().From, message, "")
		in.found.Advice = advice
	}
}
