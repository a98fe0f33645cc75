package guard

import (
	"fmt"
	"reflect"

	"github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/checker"
	"github.com/expr-lang/expr/conf"
	"github.com/expr-lang/expr/parser"
)

// Guard is a compiled boolean expression. It is immutable and safe for concurrent
// use.
type Guard struct{ value Value }

// Value is a compiled expression of any type. It is immutable and safe for
// concurrent use.
type Value struct {
	source   string
	root     ast.Node
	strict   bool
	patterns patterns
}

// Compile checks a source against an environment and compiles it. The problem is
// nil on success.
func Compile(src string, env Env) (*Guard, *Problem) {
	v, p := compile(src, env, true)
	if p != nil {
		return nil, p
	}
	return &Guard{*v}, nil
}

// CompileValue is like Compile, for an expression of any type.
func CompileValue(src string, env Env) (*Value, *Problem) {
	return compile(src, env, false)
}

// String returns the source.
func (g *Guard) String() string { return g.value.source }

// Eval evaluates the guard. values has the values of the environment's names:
// engine structs, and JSON decoded with or without json.Number, whose numbers
// compare exactly. Eval does not modify them.
//
// An error means that the guard is undecided: an operation received a value that
// it does not accept, such as a missing argument of a call. The caller must then
// fail closed.
func (g *Guard) Eval(values map[string]any) (bool, error) {
	v, err := g.value.Eval(values)
	if err != nil {
		return false, err
	}
	b, ok := v.(bool)
	if !ok {
		return false, fmt.Errorf("evaluate %s: the result must be a boolean, got %s", g.value.source, kindNames[kindOf(v)])
	}
	return b, nil
}

// String returns the source.
func (v *Value) String() string { return v.source }

// Eval evaluates the expression; see Guard.Eval. A number in the result is an int
// or a float64.
func (v *Value) Eval(values map[string]any) (out any, err error) {
	defer func() {
		switch r := recover().(type) {
		case nil:
		case failure:
			out, err = nil, fmt.Errorf("evaluate %s: %w", v.source, problemAt(v.source, r.at, r.message, r.hint))
		default: // a bug, which must not let a call pass
			out, err = nil, fmt.Errorf("evaluate %s: internal error: %v", v.source, r)
		}
	}()
	e := evaluation{values: values, strict: v.strict, patterns: v.patterns}
	return plainValue(e.eval(v.root)), nil
}

func compile(src string, env Env, boolean bool) (*Value, *Problem) {
	in, root, p := check(src, env, boolean)
	if p != nil {
		return nil, p
	}
	return &Value{source: src, root: root, strict: env.strict, patterns: in.patterns}, nil
}

// check returns the first problem of a source, if any, before it is compiled.
func check(src string, env Env, boolean bool) (*inspector, ast.Node, *Problem) {
	if p := checkSize(src); p != nil {
		return nil, nil, p
	}
	c := conf.CreateNew()
	restrict(c)
	env.option(c)
	tree, err := parser.ParseWithConfig(src, c)
	if err != nil {
		return nil, nil, explain(src, problemOf(src, err))
	}
	in := inspect(src, tree.Node)
	if in.found != nil {
		return nil, nil, in.found
	}
	t, err := checker.Check(tree, c)
	if err != nil {
		return nil, nil, improve(problemOf(src, err), tree.Node, env)
	}
	if boolean && t.Kind() != reflect.Bool && t.Kind() != reflect.Interface {
		return nil, nil, problemAt(src, 0, "the expression must be a boolean, got "+kindWord(t.String()), booleanHint(tree.Node))
	}
	return in, tree.Node, nil
}

func booleanHint(root ast.Node) string {
	if name := Path(root); name != "" {
		return "compare it: " + name + " == ..."
	}
	return "add a comparison"
}

// restrict allows only the allowed functions.
func restrict(c *conf.Config) {
	c.MaxNodes = 0 // limited by the length of the source and by inspect
	for name := range c.Builtins {
		if _, ok := allowed[name]; !ok {
			c.Disabled[name] = true
			delete(c.Builtins, name)
		}
	}
}
