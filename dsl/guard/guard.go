package guard

import (
	"fmt"
	"maps"
	"reflect"
	"sync"

	"github.com/expr-lang/expr"
	"github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/checker"
	"github.com/expr-lang/expr/conf"
	"github.com/expr-lang/expr/parser"
	"github.com/expr-lang/expr/types"
	"github.com/expr-lang/expr/vm"
)

// Guard is a compiled expression that says yes or no. It is immutable and safe
// for concurrent use.
type Guard struct{ value Value }

// Value is a compiled expression of any type. It is immutable and safe for
// concurrent use.
type Value struct {
	source  string
	program *vm.Program
	metered bool     // it draws on the budget
	json    []string // names whose values may hold numbers as JSON wrote them
}

// Compile checks a source against an environment and compiles it. The problem
// is nil when there is none.
func Compile(src string, env Env) (*Guard, *Problem) {
	v, p := compile(src, env, true)
	if p != nil {
		return nil, p
	}
	return &Guard{*v}, nil
}

// CompileValue is Compile for an expression of any type.
func CompileValue(src string, env Env) (*Value, *Problem) {
	return compile(src, env, false)
}

// String is the source.
func (g *Guard) String() string { return g.value.source }

// Eval evaluates the guard. The values are those of its environment by name:
// the engine's structs, and JSON decoded with or without json.Number. They are
// only read.
func (g *Guard) Eval(values map[string]any) (bool, error) {
	v, err := g.value.Eval(values)
	if err != nil {
		return false, err
	}
	b, ok := v.(bool)
	if !ok {
		return false, fmt.Errorf("evaluate %s: the result is %s, not true or false", g.value.source, kindOf(v))
	}
	return b, nil
}

// String is the source.
func (v *Value) String() string { return v.source }

// Eval evaluates the expression; see Guard.Eval.
func (v *Value) Eval(values map[string]any) (any, error) {
	s := sessions.Get().(*session)
	defer sessions.Put(s)
	out, err := s.vm.Run(v.program, s.values(v, values))
	clear(s.own)
	if err != nil {
		return nil, fmt.Errorf("evaluate %s: %w", v.source, runProblem(v.source, err))
	}
	return out, nil
}

// session is what an evaluation needs and leaves to the next.
type session struct {
	vm     vm.VM
	budget int
	own    map[string]any
}

var sessions = sync.Pool{New: func() any {
	return &session{vm: vm.VM{MemoryBudget: maxWork}, own: map[string]any{}}
}}

// values are the caller's values, or a copy with plain numbers and the budget.
func (s *session) values(v *Value, given map[string]any) map[string]any {
	copied := false
	set := func(name string, value any) {
		if !copied {
			maps.Copy(s.own, given)
			copied = true
		}
		s.own[name] = value
	}
	for _, name := range v.json {
		if p, changed := plain(given[name]); changed {
			set(name, p)
		}
	}
	if v.metered {
		s.budget = maxWork
		set(budgetName, &s.budget)
	}
	if copied {
		return s.own
	}
	return given
}

func compile(src string, env Env, boolean bool) (*Value, *Problem) {
	in, p := check(src, env, boolean)
	if p != nil {
		return nil, p
	}
	m := &meter{}
	metered := env.with(budgetName, types.Any, types.Any)
	program, err := expr.Compile(src, restrict, functions, metered.option(metered.compiled), expr.Patch(m))
	if err != nil {
		return nil, problemOf(src, err)
	}
	return &Value{source: src, program: program, metered: m.used, json: in.json(env)}, nil
}

// check finds everything wrong with a source before it is compiled.
func check(src string, env Env, boolean bool) (*inspector, *Problem) {
	if p := checkSize(src); p != nil {
		return nil, p
	}
	c := conf.CreateNew()
	restrict(c)
	env.option(env.declared)(c)
	tree, err := parser.ParseWithConfig(src, c)
	if err != nil {
		return nil, explain(src, problemOf(src, err))
	}
	in := inspect(src, tree.Node)
	if in.found != nil {
		return nil, in.found
	}
	t, err := checker.Check(tree, c)
	if err != nil {
		return nil, improve(problemOf(src, err), tree.Node, env)
	}
	if boolean && t.Kind() != reflect.Bool && t.Kind() != reflect.Interface {
		return nil, problemAt(src, 0, "the expression gives "+typeName(t)+", not true or false", booleanHint(tree.Node))
	}
	return in, nil
}

func booleanHint(root ast.Node) string {
	if name := path(root); name != "" {
		return "compare it: " + name + " == ..."
	}
	return "compare it with something"
}

// restrict leaves only the allowed functions.
func restrict(c *conf.Config) {
	c.MaxNodes = 0 // the source's length bounds them, and inspect counts them
	for name := range c.Builtins {
		if _, ok := allowed[name]; !ok {
			c.Disabled[name] = true
			delete(c.Builtins, name)
		}
	}
}
