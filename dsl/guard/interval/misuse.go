package interval

import (
	"fmt"
	"math/bits"
	"slices"
	"strconv"
	"strings"

	"github.com/expr-lang/expr/ast"

	"github.com/pexctl/pex/dsl/diag"
	"github.com/pexctl/pex/dsl/guard"
	"github.com/pexctl/pex/dsl/guard/exact"
)

// Misuse is a wrong use of an argument in an expression, or one that may leave
// the expression undecided.
type Misuse struct {
	Offset  int // in bytes into the source
	Message string
	diag.Advice
	Maybe bool // the argument may be missing; otherwise it is an error
	// Server is the server whose unknown tools the argument belongs to, so it was
	// not checked. It is "" for other problems.
	Server string
}

// Misuses checks an expression against the declared arguments of tools. It
// evaluates it once for the calls of each tool, so that tool.name == "x" before
// an argument selects the tool. A source that does not compile has no misuses.
//
// If arguments are lenient, as in a trace, a missing one is nil. Then only a name
// that no tool has and a comparison that is false for all tools are misuses.
func Misuses(src string, env guard.Env, b Bounds, tools []guard.Tool) []Misuse {
	root := guard.Parse(src, env)
	if root == nil {
		return nil
	}
	tools = withServerTools(tools, root)
	u := &collector{src: src, tools: tools, lenient: !env.Strict(), unknown: map[int]*unknownName{}, fine: map[int]bool{}}
	calls := make([]Range, len(tools))
	for i := range tools {
		calls[i] = Range{kinds: isObject, fields: map[string]Range{"tool": Words(tools[i].Name), "args": argumentsRange(&tools[i])}, open: true}
	}
	each := tools
	if _, about := env.Struct("tool"); !about && len(tools) > 0 {
		each = tools[:1] // only the calls in lists differ
	}
	for i := range each {
		names := b.Over(callLists(env, calls))
		if _, about := env.Struct("tool"); about {
			names["tool"] = callBounds(&each[i])
		}
		o := newEvaluator(env, names)
		o.misuses = u
		r := o.eval(root)
		o.require(root, root, r, isBool, "the expression must be a boolean")
	}
	return u.list()
}

// callLists returns the lists of calls in an environment. Each element is a call
// of one of the tools.
func callLists(env guard.Env, calls []Range) Bounds {
	out := Bounds{}
	for _, name := range []string{"run", "trace"} {
		t, ok := env.Struct(name)
		if !ok || len(calls) == 0 {
			continue
		}
		list := List(0, -1, Anything())
		list.variants = calls
		out[name] = rangeOf(t).With(map[string]Range{"calls": list})
	}
	return out
}

// collector collects misuses.
type collector struct {
	src     string
	tools   []guard.Tool
	lenient bool // a missing argument is nil
	found   []Misuse
	unknown map[int]*unknownName // by offset
	numbers []string             // arguments without a schema, which are text, used as numbers
	maybe   []string             // arguments reported as optional
	fine    map[int]bool         // offsets of uses that are correct for the calls of some tool
	servers []string             // servers of reported arguments
}

// at returns the offset of a node.
func (u *collector) at(n ast.Node) int { return guard.Offset(u.src, n) }

func (u *collector) add(n ast.Node, maybe bool, advice diag.Advice, format string, args ...any) {
	m := Misuse{Offset: u.at(n), Message: fmt.Sprintf(format, args...), Advice: advice, Maybe: maybe}
	if !slices.ContainsFunc(u.found, func(f Misuse) bool { return f.Offset == m.Offset && f.Message == m.Message }) {
		u.found = append(u.found, m)
	}
}

// list returns the misuses in source order.
func (u *collector) list() []Misuse {
	if u.lenient {
		u.found = slices.DeleteFunc(u.found, func(m Misuse) bool { return m.Server == "" && u.fine[m.Offset] })
	}
	for at, n := range u.unknown {
		if u.lenient && (len(n.having) > 0 || n.open) {
			continue
		}
		if m, ok := n.misuse(at); ok {
			u.found = append(u.found, m)
		}
	}
	slices.SortStableFunc(u.found, func(a, b Misuse) int { return a.Offset - b.Offset })
	return u.found
}

// require reports an argument that never has a kind that an operation accepts, or
// that may be missing. rule describes what the operation accepts.
func (o *evaluator) require(n, at ast.Node, r Range, want kinds, rule string) {
	if o.misuses == nil || r.fails {
		return
	}
	have := r.kinds &^ isNil
	if have&want != 0 && (r.origin != nil || r.kinds == isAny) {
		o.misuses.fine[o.misuses.at(at)] = true
	}
	switch {
	case r.origin == nil:
	case have == 0 && r.kinds != 0:
	case have&want == 0:
		hint := guard.HintConvert
		if r.origin.tool.Texts && have == isText && want&isNumber != 0 {
			hint = o.misuses.schemaHint(r.origin)
		}
		o.misuses.add(at, false, diag.Advice{Hint: hint}, "%s is %s, but %s", o.argument(n, r), kindsInWords(have), rule)
	case r.kinds&isNil != 0:
		o.optional(n, r)
	}
}

// optional reports that an argument may be missing, once per argument.
func (o *evaluator) optional(n ast.Node, r Range) {
	name := o.argument(n, r)
	if o.misuses.lenient || slices.Contains(o.misuses.maybe, name) {
		return
	}
	o.misuses.maybe = append(o.misuses.maybe, name)
	o.misuses.add(n, true, diag.Advice{Hint: fmt.Sprintf("add a default, (%s ?? ...), or test it first: %s != nil and ...", guard.Subject(n), guard.Subject(n))},
		"%s may be missing or null, and then the expression is undecided", name)
}

// argument returns the name of an argument, with its tool if there are several.
func (o *evaluator) argument(n ast.Node, r Range) string {
	name := guard.NameOf(n)
	if name == "" {
		name = "the argument " + r.origin.name
	}
	if len(o.misuses.tools) > 1 {
		name += " of " + r.origin.tool.Name
	}
	return name
}

// checkComparisons reports an equality comparison of an argument with a value
// that it never is.
func (o *evaluator) checkComparisons(left, right ast.Node, l, r Range) {
	if o.misuses == nil || guard.IsNilNode(left) || guard.IsNilNode(right) {
		return
	}
	o.checkComparison(left, right, l, r)
	if l.origin == nil || r.origin == nil || l.kinds&r.kinds&^isNil != 0 {
		o.checkComparison(right, left, r, l)
	}
}

func (o *evaluator) checkComparison(n, with ast.Node, r, value Range) {
	if r.origin == nil && !r.fails && r.kinds == isAny {
		o.misuses.fine[o.misuses.at(with)] = true // an argument of any kind, or none
	}
	if r.origin == nil || r.fails || value.fails {
		return
	}
	have, want := widened(r.kinds&^isNil), widened(value.kinds&^isNil)
	text, isWord := with.(*ast.StringNode)
	switch {
	case have == 0 || want == 0:
	case have&want == 0:
		hint := literalHint(with, have)
		if r.origin.tool.Texts && have == isText && want == isNumber {
			hint = o.misuses.schemaHint(r.origin)
		}
		o.misuses.add(with, false, diag.Advice{Hint: hint}, "%s is %s but is compared with %s", o.argument(n, r), kindsInWords(have), kindsInWords(want))
	case isWord && have == isText && r.words != nil && !slices.Contains(r.words, text.Value):
		var advice diag.Advice
		if near := diag.Nearest(text.Value, r.words); near != "" {
			advice = diag.DidYouMean(text.Value, strconv.Quote(near), "")
			advice.Fix.New = near // without the quotes
		}
		o.misuses.add(with, false, advice, "%s is never %q; it is one of %s", o.argument(n, r), text.Value, joinWords(r.words))
	default:
		if o.misuses.fine[o.misuses.at(with)] = true; r.kinds&isNil != 0 {
			o.optional(n, r)
		}
	}
}

// checkMembership reports `in` with an argument that is never in the list, or
// that is not a list.
func (o *evaluator) checkMembership(n *ast.BinaryNode, l, r Range) {
	if o.misuses == nil {
		return
	}
	o.require(n.Right, n, r, isList|isObject, "in needs a list or an object")
	if name, ok := n.Left.(*ast.StringNode); ok {
		o.misuses.named(n.Left, n.Right, r, name.Value)
	}
	written, ok := n.Right.(*ast.ArrayNode)
	switch {
	case ok:
		o.amongWritten(n, l, written)
	case l.origin != nil && r.hasOnly(isList) && r.elem != nil:
		o.require(n.Left, n, l, widened(r.elem.kinds), "the list contains "+kindsInWords(r.elem.kinds))
	case r.origin != nil && r.hasOnly(isList) && r.elem != nil && widened(r.elem.kinds)&widened(l.kinds) == 0:
		o.misuses.add(n, false, diag.Advice{Hint: guard.HintConvert}, "%s is a list of %s, which never contains %s", o.argument(n.Right, r), kindsInWords(r.elem.kinds), kindsInWords(l.kinds))
	case l.origin != nil && l.kinds&isNil != 0:
		o.optional(n.Left, l)
	}
}

// amongWritten is like in, for a literal list.
func (o *evaluator) amongWritten(n *ast.BinaryNode, l Range, list *ast.ArrayNode) {
	if l.origin == nil || len(list.Nodes) == 0 {
		return
	}
	var kinds kinds
	for _, e := range list.Nodes {
		kinds |= widened(o.eval(e).kinds)
	}
	if widened(l.kinds&^isNil)&kinds == 0 {
		o.checkComparison(n.Left, list.Nodes[0], l, o.eval(list.Nodes[0]))
		return
	}
	for _, e := range list.Nodes {
		if _, ok := e.(*ast.StringNode); ok && l.words != nil {
			o.checkComparison(n.Left, e, l, o.eval(e))
		}
	}
	if l.kinds&isNil != 0 {
		o.optional(n.Left, l)
	}
}

// schemaHint returns an input schema for arguments that are numbers.
func (u *collector) schemaHint(of *origin) string {
	if !slices.Contains(u.numbers, of.name) {
		u.numbers = append(u.numbers, of.name)
	}
	names := Arguments(of.tool)
	props := make([]string, len(names))
	for i, name := range names {
		t := "string"
		if slices.Contains(u.numbers, name) {
			t = "number"
		}
		props[i] = name + ": {type: " + t + "}"
	}
	return fmt.Sprintf("without an input_schema, the arguments of %s are strings; write input_schema: {type: object, properties: {%s}, required: [%s]}",
		of.tool.Name, strings.Join(props, ", "), strings.Join(names, ", "))
}

// literalHint describes how to write a value as the kind of an argument.
func literalHint(with ast.Node, have kinds) string {
	switch with := with.(type) {
	case *ast.StringNode:
		if _, ok := exact.Parse(with.Value); ok && have == isNumber {
			return "remove the quotes: " + with.Value
		}
	case *ast.IntegerNode:
		if have == isText {
			return fmt.Sprintf(`quote it: "%d"`, with.Value)
		}
	}
	return guard.HintConvert
}

// widened treats true and false as one kind.
func widened(k kinds) kinds {
	if k&isBool != 0 {
		k |= isBool
	}
	return k
}

// kindsInWords returns the names of kinds with their articles.
func kindsInWords(k kinds) string {
	var out []string
	for _, kind := range []struct {
		bit  kinds
		text string
	}{{isNumber, "a number"}, {isText, "a string"}, {isBool, "a boolean"}, {isList, "a list"}, {isObject, "an object"}} {
		if k&kind.bit != 0 {
			out = append(out, kind.text)
		}
	}
	if len(out) == 0 || bits.OnesCount8(uint8(k)) > 4 {
		return "nil"
	}
	if last := len(out) - 1; last > 0 {
		return strings.Join(out[:last], ", ") + " or " + out[last]
	}
	return out[0]
}

// withServerTools replaces each server by one tool for every name of its tools
// in the texts of an expression, and one for all other names.
func withServerTools(tools []guard.Tool, root ast.Node) []guard.Tool {
	out := make([]guard.Tool, 0, len(tools))
	for i := range tools {
		if !tools[i].Server {
			out = append(out, tools[i])
			continue
		}
		prefix := tools[i].Name + "__"
		named := texts{prefix: prefix, found: []string{prefix}}
		ast.Walk(&root, &named)
		for _, name := range named.found {
			out = append(out, guard.Tool{Name: name, Server: true})
		}
	}
	return out
}

// texts collects the texts of an expression that have a prefix.
type texts struct {
	prefix string
	found  []string
}

// Visit implements ast.Visitor.
func (t *texts) Visit(n *ast.Node) {
	if s, ok := (*n).(*ast.StringNode); ok && strings.HasPrefix(s.Value, t.prefix) && !slices.Contains(t.found, s.Value) {
		t.found = append(t.found, s.Value)
	}
}

// unpinned records a use of the arguments of an unknown tool, once per server.
func (u *collector) unpinned(at int, tool *guard.Tool) {
	server, _, _ := strings.Cut(tool.Name, "__")
	for i := range u.tools {
		if t := &u.tools[i]; t.Server && strings.HasSuffix(t.Name, "__") && strings.HasPrefix(tool.Name, t.Name) {
			server = strings.TrimSuffix(t.Name, "__")
		}
	}
	if !slices.Contains(u.servers, server) {
		u.servers = append(u.servers, server)
		u.found = append(u.found, Misuse{Offset: at, Server: server})
	}
}
