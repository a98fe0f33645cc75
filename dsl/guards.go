package dsl

import (
	"strconv"

	"github.com/pexctl/pex/dsl/diag"
	"github.com/pexctl/pex/dsl/language"
	"github.com/pexctl/pex/dsl/syntax"
	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/component"
)

// guards decodes the guards. The names that an expression may use depend on its
// place.
func (c *compiler) guards() {
	v := c.doc.Guards
	if v == nil {
		return
	}
	if v.Kind != syntax.List {
		c.WrongType(v, "guards", "a list").Hint = "write each guard as a list item: - {name: ..., at: ..., when: ..., do: ...}"
		return
	}
	names := map[string]syntax.Position{}
	for i, it := range v.Items {
		path := "guards[" + strconv.Itoa(i) + "]"
		var k language.GuardRule
		before := len(c.Report.List)
		c.Decode(it, path, &k)
		g := engine.Guard{Index: i, Name: k.Name, At: engine.GuardPlace(k.At), Do: engine.GuardAction(k.Do), Message: k.Message}
		if first, twice := names[k.Name]; twice {
			c.Report.Error(diag.DuplicateKey, it.Get("name").Position, "the guard %q is already defined at %s", k.Name, syntax.Where(first))
		} else if k.Name != "" {
			names[k.Name] = it.Get("name").Position
		}
		g.Rule.FourEyes = k.FourEyes
		if k.Approvers != nil && c.AsExpression(k.Approvers, path+".approvers") {
			c.guardApprovers(k.Approvers, g.At, &g.Rule.Approvers)
		}
		if k.When != nil && c.AsExpression(k.When, path+".when") {
			c.guardWhen(k.When, k.At, &g.When)
		}
		if !c.Report.FailedSince(before) {
			c.checkGuardAction(it, &g)
		}
		c.program.Guards = append(c.program.Guards, g)
	}
}

func (c *compiler) guardWhen(v *syntax.Node, at string, g *component.GuardRef) {
	g.Source = v.Text
	if env, ok := c.GuardEnv(at); ok {
		c.CompileExpression(v, env, nil, g)
	}
}

func (c *compiler) guardApprovers(v *syntax.Node, at engine.GuardPlace, g *component.GuardRef) {
	g.Source = v.Text
	place := "plan_approvers"
	if at == engine.BeforeTool {
		place = "approvers"
	}
	if env, ok := c.GuardEnv(place); ok {
		c.CompileExpression(v, env, nil, g)
	}
}

// checkGuardAction checks that the action is possible in the place.
func (c *compiler) checkGuardAction(v *syntax.Node, g *engine.Guard) {
	if g.Do == engine.GuardDeny && g.At != engine.BeforeTool {
		c.Report.Error(diag.GuardMismatch, v.Get("do").Position, "deny rejects a tool call, but there is none at %s", g.At).Hint = "write at: before_tool"
	}
	for key, set := range map[string]bool{"approvers": !g.Rule.Approvers.IsZero(), "four_eyes": g.Rule.FourEyes} {
		if e := v.Find(key); set && g.Do != engine.GuardInterrupt {
			c.Report.Error(diag.GuardMismatch, e.Position, "%s is about the answer to a question, and do: %s asks none", key, g.Do).Hint = "write do: interrupt, or remove " + key
		}
	}
}

// checkReplanGuards checks that guards that replan have a node that plans. Runs
// that an earlier version started without one continue unchanged.
func (c *compiler) checkReplanGuards() {
	if c.program.Graph == nil || c.doc.Guards == nil || c.doc.Guards.IsResolved() {
		return
	}
	if len(engine.NodesWith[engine.Planner](c.program))+len(engine.NodesWith[engine.PlanReviewer](c.program)) > 0 {
		return
	}
	for _, g := range c.program.Guards {
		if g.Do == engine.GuardReplan {
			at := c.doc.Guards.Items[g.Index].Get("do").Position
			c.Report.Error(diag.GuardMismatch, at, "replan needs a node that makes plans, and this graph has none").Hint = "add a planner or a reflector to graph.nodes, or write do: stop"
		}
	}
}

// defaultRepairs is the default number of attempts to repair an answer.
const defaultRepairs = 2

// output decodes the requirements for the final answer.
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
