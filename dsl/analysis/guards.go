package analysis

import (
	"slices"
	"strconv"
	"strings"

	"github.com/pexctl/pex/dsl"
	"github.com/pexctl/pex/dsl/diag"
	"github.com/pexctl/pex/dsl/guard"
	"github.com/pexctl/pex/dsl/guard/interval"
	"github.com/pexctl/pex/dsl/language"
	"github.com/pexctl/pex/engine"
)

// Guards finds conditions that are always true or always false in any run within
// the limits of the spec: in guards, edges, approvals, verifications, ensures,
// reflector.when and the rules of memory.compaction.
var Guards = dsl.Analyzer{
	Name: "guards", Codes: []diag.Code{diag.NeverFires, diag.AlwaysFires},
	Run: func(p *dsl.Pass) {
		c := &conditions{Pass: p, bounds: newPlaceBounds(p), tree: p.Spec.Tree()}
		if c.overridden() {
			return
		}
		c.guards()
		c.roles()
		c.graph()
		c.approvals()
		c.memory()
		c.output()
	},
}

// conditions checks the expressions of one spec.
type conditions struct {
	*dsl.Pass
	bounds *placeBounds
	tree   dsl.Value
}

// condition is one expression: where it is evaluated, its name in messages, and
// the effect if it never or always holds.
type condition struct {
	value         dsl.Value
	place         string // a place of guard.Place
	bounds        interval.Bounds
	what          string
	never, always string
	constant      bool // report the literals true and false too: they are never intended here
}

// overridden reports whether flags or the environment change a value that the
// bounds depend on. A condition that is constant only because of an override is
// not a mistake of the spec.
func (c *conditions) overridden() bool {
	return slices.ContainsFunc([]string{"limits", "guards", "parameters", language.Planner, language.Executor, language.Reflector, "graph", "tools", "output", "memory"}, func(key string) bool {
		return c.Overridden(c.tree.Get(key))
	})
}

// checkCondition reports a comparison with a word that the value never is, or else a
// condition that never or always holds.
func (c *conditions) checkCondition(x condition) {
	src := x.value.Text()
	switch strings.TrimSpace(src) {
	case "", "never", "always", "none", "judge":
		return
	case "true", "false":
		if !x.constant {
			return // a literal true or false is intended
		}
	}
	env, ok := guard.Place(x.place, c.bounds.properties)
	if !ok || !c.InSpecFile(x.value.Place()) || c.unknownWords(x, env) {
		return
	}
	var d *diag.Diagnostic
	switch interval.Decide(src, env, x.bounds) {
	case interval.Never:
		d = c.Warn(diag.NeverFires, x.value.Place(), "%s is always false: %s", x.what, x.never)
	case interval.Always:
		d = c.Warn(diag.AlwaysFires, x.value.Place(), "%s is always true: %s", x.what, x.always)
	case interval.Unknown:
		return
	}
	d.Hint = strings.Join(interval.Known(src, env, x.bounds), "; ")
}

// unknownWords reports comparisons with words that a value never is in any place.
func (c *conditions) unknownWords(x condition, env guard.Env) bool {
	told := false
	for _, s := range interval.UnknownWords(x.value.Text(), env, x.bounds) {
		known := c.bounds.vocabulary(s)
		if slices.Contains(known, s.Word) {
			continue // it occurs elsewhere, so comparing with it here may be intended
		}
		told = true
		d := c.Warn(diag.NeverFires, x.value.Within(s.Offset), "%s is never %q", s.Name, s.Word)
		if d.Hint = "it is one of " + strings.Join(known, ", "); len(known) == 1 {
			d.Hint = "it is always " + known[0]
		}
		if near := diag.Nearest(s.Word, known); near != "" {
			d.Advice = diag.DidYouMean(s.Word, near, d.Hint)
		}
	}
	return told
}

func (c *conditions) guards() {
	for _, v := range c.tree.Get("guards").Items() {
		at := v.Get("at").Text()
		c.checkCondition(condition{
			value: v.Get("when"), place: at, bounds: c.bounds.at(engine.GuardPlace(at)), what: "the condition of guard " + strconv.Quote(v.Get("name").Text()),
			never: "the guard never fires", always: "the guard fires every time",
		})
	}
}

// roles checks the conditions in the sections of the roles.
func (c *conditions) roles() {
	c.role(language.Planner, c.tree.Get(language.Planner))
	c.role(language.Executor, c.tree.Get(language.Executor))
	c.role(language.Reflector, c.tree.Get(language.Reflector))
}

// role checks the conditions in the section of a role or in a node of its type.
func (c *conditions) role(typ string, v dsl.Value) {
	switch typ {
	case language.Planner:
		c.checkCondition(condition{
			value: v.Get("approval"), place: "plan_approval", bounds: c.bounds.planApproval(), what: "planner.approval",
			never: "approval is never requested, as with approval: never", always: "write approval: always",
		})
	case language.Executor:
		c.checkCondition(condition{
			value: v.Get("verify"), place: "verify", bounds: c.bounds.verify(), what: "executor.verify",
			never: "no step can succeed", always: "every step passes",
		})
	case language.Reflector:
		c.checkCondition(condition{
			value: v.Get("when"), place: "reflector_when", bounds: c.bounds.endedStep(), what: "reflector.when",
			never: "it never calls the reflector", always: "the reflector runs after every step, as with strategy: per_step",
		})
	}
}

// graph checks the edges and nodes of a graph that the spec defines.
func (c *conditions) graph() {
	types := map[string]dsl.Value{}
	for _, n := range c.tree.Get("graph", "nodes").Items() {
		types[n.Get("id").Text()] = n
		c.role(n.Get("type").Text(), n)
	}
	for _, e := range c.tree.Get("graph", "edges").Items() {
		from := e.Get("from").Text()
		c.checkCondition(condition{
			value: e.Get("when"), place: "edge", bounds: c.bounds.edge(types[from]), what: "the condition of the edge from " + from + " to " + e.Get("to").Text(),
			never: "the edge is never taken", always: "later edges are never taken", constant: true,
		})
	}
}

// approvals checks the approvals of tools and of servers' tools.
func (c *conditions) approvals() {
	for i := range c.Tools {
		t := &c.Tools[i]
		c.approval(t.Entry.Value.Get("approval"), t.Spec.Name, c.bounds.approval(t, ""))
		for _, o := range t.Entry.Value.Get("overrides").Entries() {
			name := t.Spec.Name + "__" + o.Key
			c.approval(o.Value.Get("approval"), name, c.bounds.approval(t, name))
		}
	}
}

func (c *conditions) approval(v dsl.Value, name string, b interval.Bounds) {
	c.checkCondition(condition{
		value: v, place: "approval", bounds: b, what: "the approval of tool " + strconv.Quote(name),
		never: "approval is never requested, as with approval: never", always: "write approval: always",
	})
}

func (c *conditions) memory() {
	for _, rule := range c.tree.Get("memory", "compaction").Entries() {
		c.checkCondition(condition{
			value: rule.Value.Get("when"), place: "compaction", bounds: c.bounds.compaction(), what: "memory.compaction." + rule.Key + ".when",
			never: "the rule never runs", always: "the rule runs on every request",
		})
	}
}

func (c *conditions) output() {
	for _, v := range c.tree.Get("output", "ensures").Items() {
		c.checkCondition(condition{
			value: v, place: "ensures", bounds: c.bounds.ensures(), what: "this condition of output.ensures",
			never: "no answer can satisfy it", always: "every answer satisfies it",
		})
	}
}
