package dsl

import (
	"github.com/pexctl/pex/dsl/diag"
	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/component"
)

// guards reads the rules. The names an expression may use depend on its place.
func (c *compiler) guards() {
	v := c.doc.Guards
	if v == nil {
		return
	}
	if v.kind != list {
		c.wrongType(v, "guards", "a list").Hint = "write - {name: ..., at: ..., when: ..., do: ...}"
		return
	}
	names := map[string]place{}
	for i, it := range v.items {
		path := "guards[" + itoa(i) + "]"
		var k guardRule
		before := len(c.report.list)
		c.decode(it, path, &k)
		g := engine.Guard{Index: i, Name: k.Name, At: engine.GuardPlace(k.At), Do: engine.GuardAction(k.Do), Message: k.Message}
		if first, twice := names[k.Name]; twice {
			c.report.error(diag.DuplicateKey, it.get("name").place, "the guard %s is already defined at %s", k.Name, where(first))
		} else if k.Name != "" {
			names[k.Name] = it.get("name").place
		}
		if k.When != nil && c.asSource(k.When, path+".when") {
			c.guardWhen(k.When, k.At, &g.When)
		}
		if !c.report.failedSince(before) {
			c.fitting(it, &g)
		}
		c.program.Guards = append(c.program.Guards, g)
	}
}

func (c *compiler) guardWhen(v *value, at string, g *component.GuardRef) {
	g.Source = v.text
	if env, ok := c.guardEnv(at); ok {
		c.expression(v, env, nil, g)
	}
}

// fitting checks that the action can be taken at the place.
func (c *compiler) fitting(v *value, g *engine.Guard) {
	if g.Do == engine.GuardDeny && g.At != engine.BeforeTool {
		c.report.error(diag.GuardMismatch, v.get("do").place, "deny refuses a tool call, and at %s there is none", g.At).Hint = "write at: before_tool"
	}
}

// urging checks that whoever makes plans is there for guards that want a new one;
// a run that an earlier version made without goes on as it began.
func (c *compiler) urging() {
	if c.program.Graph == nil || c.doc.Guards == nil || c.doc.Guards.kept() {
		return
	}
	for _, typ := range []string{"planner", "reflector"} {
		if _, ok := c.program.NodeOf(typ); ok {
			return
		}
	}
	for _, g := range c.program.Guards {
		if g.Do == engine.GuardReplan {
			at := c.doc.Guards.items[g.Index].get("do").place
			c.report.error(diag.GuardMismatch, at, "replan wants a new plan, and no node of this graph makes one").Hint = "add a planner or a reflector to graph.nodes, or write do: stop"
		}
	}
}

// defaultRepairs is how often an answer is asked for again (DESIGN section 2).
const defaultRepairs = 2

// output reads what a final answer must be.
func (c *compiler) output() {
	o := c.doc.Output
	if o == nil {
		return
	}
	attempts := defaultRepairs
	if n := o.Repair.MaxAttempts; n != nil {
		attempts = *n
	}
	c.program.Output = &engine.Output{Schema: o.Schema, Ensures: o.Ensures, MaxAttempts: attempts}
}
