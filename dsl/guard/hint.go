package guard

import (
	"maps"
	"reflect"
	"slices"
	"strings"
	"unicode"

	"github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/checker/nature"
	"github.com/pexctl/pex/dsl/diag"
	"github.com/pexctl/pex/engine/text"
)

// otherWords maps words of other languages.
var otherWords = map[string]string{
	"null": "write nil", "None": "write nil", "undefined": "write nil", "True": "write true", "False": "write false",
	"AND": "write and", "OR": "write or", "NOT": "write not", "IN": "write in", "yes": "write true", "no": "write false",
}

// token matches a token in the library's messages.
var token = text.Regexp(`(?:Operator|Identifier|Bracket|Number|String|Bytes)\("((?:[^"\\]|\\.)*)"\)`)

// explain rewrites a syntax error in terms of the language, with a hint based on
// the source.
func explain(src string, p *Problem) *Problem {
	at := src[p.Offset:]
	switch {
	case strings.TrimSpace(src) == "":
		p.Message = "the expression is empty"
	case strings.Contains(src, "${") || strings.Contains(src, "$<"):
		p.Hint = "an expression is not a template; write " + unwrapReferences(src) + " without braces"
	case strings.ContainsAny(at, "“”‘’„"):
		p.Hint = `write straight quotes: "text"`
	case strings.Contains(src, "===") || strings.Contains(src, "!=="):
		p.Hint = "compare with == and !="
	case strings.Contains(p.Message, `Operator("=")`):
		p.Hint = "compare with =="
	case strings.HasPrefix(at, "&") || strings.HasPrefix(at, "|"):
		p.Hint = "write and, or"
	case strings.Contains(p.Message, "literal not terminated"):
		p.Hint = "close the quote; in YAML, put the whole expression between single quotes or in a | block"
	case strings.Contains(p.Message, "token EOF"):
		p.Hint = endHint(src)
	default:
		p.Hint = otherWords[strings.TrimRightFunc(strings.SplitN(at+" ", " ", 2)[0], unicode.IsPunct)]
	}
	p.Message = strings.ReplaceAll(token().ReplaceAllString(p.Message, "$1"), "unexpected token EOF", "unexpected end of the expression")
	return p
}

// endHint suggests what to add to an expression that ends too early.
func endHint(src string) string {
	words := strings.Fields(src)
	last := words[len(words)-1]
	if open := strings.Count(src, "(") - strings.Count(src, ")"); open > 0 {
		return "close the parenthesis; in YAML, quote the whole expression if it contains \" #\""
	}
	if open := strings.Count(src, "[") - strings.Count(src, "]"); open > 0 {
		return "close the bracket"
	}
	return "add a value after " + last
}

// templateReference matches a reference in template syntax.
var templateReference = text.Regexp(`\$(?:\{\s*([A-Za-z_][\w.]*)\s*\}|<\s*([A-Za-z_][\w.]*)\s*>)`)

// unwrapReferences converts references in template syntax to expression syntax.
func unwrapReferences(src string) string {
	m := templateReference().FindStringSubmatch(src)
	if m == nil {
		return "parameters.name"
	}
	return m[1] + m[2]
}

// neverIn matches the library's message for an `in` that is always false.
var neverIn = text.Regexp(`^cannot use (.+) as type (.+) in (array|map key)$`)

// improve rewrites a type error in terms of the language and suggests the likely
// name.
func improve(p *Problem, root ast.Node, env Env) *Problem {
	if name, ok := strings.CutPrefix(p.Message, "unknown name "); ok {
		var certain bool
		if p.Advice, certain = nameAdvice(name, env); !certain && besideText(root, p) {
			p.Advice = diag.Advice{Hint: `quote a string: "` + name + `"`}
		}
		return p
	}
	if m := memberAt(root, p); m != nil {
		if name, ok := m.Property.(*ast.StringNode); ok && isField(p.Message) {
			p.Message = "unknown field " + name.Value
			base := Path(m.Node)
			if base != "" {
				p.Message = "unknown field " + name.Value + " of " + base
			}
			p.Advice = fieldAdvice(base, name.Value, fields(m.Node.Nature()))
		}
	}
	if m := neverIn().FindStringSubmatch(p.Message); m != nil {
		p.Message = kindWord(m[1]) + " can never be in a list of " + kindWords(m[2])
		if m[3] == "map key" {
			p.Message = kindWord(m[1]) + " can never be a key of an object"
		}
		p.Hint = "convert with int(x), float(x) or string(x)"
	}
	p.Message = typeNames.Replace(p.Message)
	if p.Hint == "" {
		p.Hint = typeHint(p.Message)
	}
	return p
}

func typeHint(message string) string {
	switch {
	case strings.HasPrefix(message, "invalid operation: contains (mismatched types []"):
		return "write value in list"
	case strings.HasPrefix(message, "invalid operation: !"), strings.HasPrefix(message, "invalid operation: not"):
		return `add a comparison: == "" for a string, == 0 for a number, == nil for a value that may be missing`
	case strings.Contains(message, "mismatched types"):
		return "both sides must have the same type; convert with int(x), float(x) or string(x)"
	}
	return ""
}

// typeNames replaces Go type names by those of the language.
var typeNames = strings.NewReplacer(
	"exprenv.Run", "run", "exprenv.Plan", "plan", "exprenv.Step", "step", "exprenv.Tool", "tool",
	"exprenv.Reply", "reply", "exprenv.Memory", "memory", "exprenv.Trace", "trace", "exprenv.ToolUses", "tool calls",
	"exprenv.Call", "call", "exprenv.RunCall", "call", "exprenv.Stats", "stats", "exprenv.GroupStats", "group", "exprenv.Spread", "spread", "exprenv.Case", "case",
	"map[string]interface {}", "object", "[]interface {}", "list", "interface {}", "any", "float64", "number",
)

// isField reports whether a message of the library is about an unknown field.
func isField(message string) bool {
	return strings.HasPrefix(message, "unknown field ") || strings.Contains(message, " has no field ")
}

// nameAdvice returns advice for an unknown name. certain reports whether the
// replacement is known.
func nameAdvice(name string, env Env) (advice diag.Advice, certain bool) {
	if hint, ok := otherWords[name]; ok {
		return diag.Advice{Hint: hint}, true
	}
	if hint, ok := instead[name]; ok {
		return diag.Advice{Hint: hint}, false
	}
	if p, ok := env.declared["parameters"]; ok {
		n := p.Nature()
		if _, ok := n.Fields[name]; ok {
			return diag.Advice{Hint: "write parameters." + name}, true
		}
	}
	if where := placesOf(name); where != "" {
		return diag.Advice{Hint: name + " is available in: " + where}, false
	}
	if near := diag.Nearest(name, append(env.Names(), Functions()...)); near != "" {
		return diag.DidYouMean(name, near, ""), false
	}
	return Suggest(name, env.Names()), false
}

// Suggest names the nearest candidate, or lists them if they are few.
func Suggest(name string, candidates []string) diag.Advice {
	others := ""
	if n := len(candidates); n > 0 && n <= 12 {
		others = "use one of: " + strings.Join(candidates, ", ")
	}
	return diag.SuggestNear(name, candidates, others)
}

// identifier matches a name that may follow a dot.
var identifier = text.Regexp(`^[A-Za-z_][A-Za-z0-9_]*$`)

// fieldAdvice suggests a field; one with a dot or a dash in its name is written
// as an index.
func fieldAdvice(base, name string, fields []string) diag.Advice {
	near := diag.Nearest(name, fields)
	if i := slices.IndexFunc(fields, func(f string) bool { return strings.HasPrefix(f, name+".") }); near == "" && i >= 0 {
		near = fields[i]
	}
	if near != "" && base != "" && !identifier().MatchString(near) {
		return diag.Advice{Hint: "write " + base + `["` + near + `"]`}
	}
	return Suggest(name, fields)
}

// besideText reports whether the name at the problem is the right operand of a
// comparison with a possible text.
func besideText(root ast.Node, p *Problem) bool {
	c := &besideTextFinder{at: p}
	ast.Walk(&root, c)
	return c.found
}

type besideTextFinder struct {
	at    *Problem
	found bool
}

// Visit implements ast.Visitor.
func (c *besideTextFinder) Visit(node *ast.Node) {
	b, ok := (*node).(*ast.BinaryNode)
	if !ok || b.Operator != "==" && b.Operator != "!=" {
		return
	}
	if name, ok := b.Right.(*ast.IdentifierNode); ok && name.Location().From == c.at.char {
		c.found = true
	}
}

// memberAt returns the member whose name is at the problem.
func memberAt(root ast.Node, p *Problem) *ast.MemberNode {
	f := &finder{at: p}
	ast.Walk(&root, f)
	return f.found
}

type finder struct {
	at    *Problem
	found *ast.MemberNode
}

// Visit implements ast.Visitor.
func (f *finder) Visit(node *ast.Node) {
	if m, ok := (*node).(*ast.MemberNode); ok && f.found == nil && m.Property.Location().From == f.at.char {
		f.found = m
	}
}

// fields returns the names of a type's fields, sorted.
func fields(n *nature.Nature) []string {
	t := n.Type
	if t == nil {
		return nil
	}
	if t.Kind() == reflect.Struct {
		var out []string
		for f := range t.Fields() {
			out = append(out, f.Tag.Get("expr"))
		}
		slices.Sort(out)
		return out
	}
	if n.TypeData == nil {
		return nil
	}
	return slices.Sorted(maps.Keys(n.Fields))
}
