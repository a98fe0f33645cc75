package interval

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/expr-lang/expr/ast"

	"github.com/pexctl/pex/dsl/diag"
	"github.com/pexctl/pex/dsl/guard"
)

// unknownName is an argument name that some tools do not have.
type unknownName struct {
	name    string
	lacking []*guard.Tool
	having  []string
	near    []string // their arguments
	outer   bool
	open    bool   // a tool with unknown arguments may have it
	of      string // the object, as written
}

// named records the access to a field of an object that is, or is part of, the
// arguments of a tool.
func (u *collector) named(n, of ast.Node, from Range, name string) {
	if from.origin == nil || from.kinds&isObject == 0 {
		return
	}
	at := u.at(n)
	k := u.unknown[at]
	if k == nil {
		k = &unknownName{name: name, outer: from.origin.name == "", of: guard.Subject(of)}
		u.unknown[at] = k
	}
	switch {
	case from.origin.tool.Server:
		k.open = true
		u.unpinned(at, from.origin.tool)
		return
	case !from.named:
		k.open = true
		return
	}
	for field := range from.fields {
		if !slices.Contains(k.near, field) {
			k.near = append(k.near, field)
		}
	}
	if _, ok := from.fields[name]; ok {
		if !slices.Contains(k.having, from.origin.tool.Name) {
			k.having = append(k.having, from.origin.tool.Name)
		}
	} else if !slices.Contains(k.lacking, from.origin.tool) {
		k.lacking = append(k.lacking, from.origin.tool)
	}
}

// misuse returns the misuse of a name that tools do not have. ok is false if it
// is not one.
func (k *unknownName) misuse(at int) (m Misuse, ok bool) {
	if len(k.lacking) == 0 {
		return m, false
	}
	slices.Sort(k.near)
	names := make([]string, len(k.lacking))
	for i, c := range k.lacking {
		names[i] = c.Name
	}
	slices.Sort(names)
	m = Misuse{Offset: at, Advice: guard.Suggest(k.name, k.near)}
	switch {
	case !k.outer:
		m.Message = fmt.Sprintf("%s of %s has no field %s", k.of, strings.Join(names, ", "), k.name)
	case len(names) == 1:
		m.Message = fmt.Sprintf("tool %q has no argument %q", names[0], k.name)
	default:
		m.Message = fmt.Sprintf("the tools %s have no argument %q", joinWords(names), k.name)
	}
	if len(k.having) > 0 && k.outer {
		slices.Sort(k.having)
		name, args := "tool.name", k.of
		if args != "tool.args" {
			name, args = ".tool", ".args"
		}
		test := name + " == " + strconv.Quote(k.having[0])
		if len(k.having) > 1 {
			test = name + ` in ["` + strings.Join(k.having, `", "`) + `"]`
		}
		m.Advice = diag.Advice{Hint: fmt.Sprintf(`write %s and ... before it, or test "%s" in %s`, test, k.name, args)}
	}
	return m, true
}

// checkMember checks the object of a field access, and the field.
func (o *evaluator) checkMember(n *ast.MemberNode, from, key Range) {
	if from.origin == nil {
		return
	}
	if key.hasOnly(isText) && key.single() {
		o.misuses.named(n.Property, n.Node, from, key.words[0])
	}
	if n.Optional {
		from.kinds &^= isNil
	}
	switch {
	case key.hasOnly(isText):
		o.require(n.Node, n, from, isObject, "only objects have fields")
	case key.hasOnly(isNumber):
		o.require(n.Node, n, from, isList, "only lists have elements")
	}
}

// operand checks the operand of a sign or a negation.
func (o *evaluator) operand(n *ast.UnaryNode, r Range) {
	want := isNumber
	if n.Operator == "!" || n.Operator == "not" {
		want = isBool
	}
	o.require(n.Node, n, r, want, acceptsText(n.Operator, want))
}

// operands checks both operands of an operator.
func (o *evaluator) operands(n *ast.BinaryNode, l, r Range) {
	both := func(want kinds) {
		o.require(n.Left, n, l, want, acceptsText(n.Operator, want))
		o.require(n.Right, n, r, want, acceptsText(n.Operator, want))
	}
	switch n.Operator {
	case "==", "!=":
		o.checkComparisons(n.Left, n.Right, l, r)
	case "<", "<=", ">", ">=", "+":
		o.ordered(n, l, r)
	case "in":
		o.checkMembership(n, l, r)
	case "contains", "startsWith", "endsWith", "matches":
		both(isText)
	case "-", "*", "/", "%", "**", "^", "..":
		both(isNumber)
	}
}

// acceptsText describes what an operator or a function accepts.
func acceptsText(what string, want kinds) string {
	switch what {
	case "and", "or", "&&", "||":
		return what + " needs booleans"
	}
	return what + " takes " + kindsInWords(want)
}

// ordered checks the operands of an operator on two numbers or two texts.
func (o *evaluator) ordered(n *ast.BinaryNode, l, r Range) {
	left, right := l.kinds&(isNumber|isText), r.kinds&(isNumber|isText)
	switch {
	case left&right != 0 || left == 0 || right == 0:
		o.require(n.Left, n, l, isNumber|isText, acceptsText(n.Operator, isNumber|isText))
		o.require(n.Right, n, r, isNumber|isText, acceptsText(n.Operator, isNumber|isText))
	case l.origin != nil:
		o.require(n.Left, n, l, right, "the other side of "+n.Operator+" is "+kindsInWords(right))
	default:
		o.require(n.Right, n, r, left, "the other side of "+n.Operator+" is "+kindsInWords(left))
	}
}

// acceptedKinds maps functions to the kinds that they accept. Functions not listed accept
// any value.
var acceptedKinds = map[string]kinds{
	"all": isList, "any": isList, "none": isList, "one": isList, "filter": isList, "map": isList, "count": isList, "sum": isList, "find": isList, "findIndex": isList,
	"first": isList, "last": isList, "len": isList | isObject | isText, "min": isNumber | isList, "max": isNumber | isList, "mean": isNumber | isList, "median": isNumber | isList,
	"lower": isText, "upper": isText, "trim": isText, "trimPrefix": isText, "trimSuffix": isText, "hasPrefix": isText, "hasSuffix": isText, "indexOf": isText,
	"abs": isNumber, "ceil": isNumber, "floor": isNumber, "round": isNumber, "int": isNumber | isText, "float": isNumber | isText,
}

// checkArgument checks an argument of a function.
func (o *evaluator) checkArgument(n *ast.BuiltinNode, argument ast.Node, r Range) {
	if want, ok := acceptedKinds[n.Name]; ok {
		o.require(argument, n, r, want, acceptsText(n.Name, want))
	} else if n.Name == "string" && r.kinds&isNil != 0 {
		o.require(argument, n, r, isAny, "")
	}
}
