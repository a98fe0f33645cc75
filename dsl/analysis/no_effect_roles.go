package analysis

import (
	"bytes"
	"slices"

	"github.com/pexctl/pex/dsl"
	"github.com/pexctl/pex/dsl/diag"
	"github.com/pexctl/pex/dsl/language"
	"github.com/pexctl/pex/engine"
)

// The strategies of the reflector and the formats of plans.
const (
	perStep  = "per_step"
	batch    = "batch"
	adaptive = "adaptive"
	never    = "none"
	asList   = "list"
	asDag    = "dag"
)

// strategy is that of the first reflector. Where a written graph has none, all
// steps of a plan run before the graph continues.
func strategy(p *dsl.Pass) string {
	n, inGraph := first(p, language.Reflector)
	if !inGraph {
		return batch
	}
	return n.text(perStep, "strategy")
}

// planFormats are those of the planners whose plans a node may work on, the
// nearest first.
func planFormats(p *dsl.Pass, of part) (out []string) {
	plans := func(id string) bool { return engine.NodeIs[engine.Planner](p.Program, id) }
	for _, id := range p.Program.Graph.Before(of.id, plans) {
		out = append(out, p.Program.Nodes[id].(engine.Planner).PlanRules().Format)
	}
	if len(out) > 0 {
		return out
	}
	if _, n := engine.NodeWith[engine.Planner](p.Program); n != nil {
		return []string{n.PlanRules().Format}
	}
	return []string{asList}
}

// steps: what a plan says of its steps depends on its format.
func (w writing) steps() {
	for _, n := range parts(w.Pass) {
		if n.typ == language.Executor {
			w.sideBySide(n)
			w.byPlan(n)
		}
	}
}

// sideBySide: steps run at the same time only where a plan says what they depend
// on, and where more than one of them is run before the next look at it.
func (w writing) sideBySide(n part) {
	if n.text("1", "max_parallel_steps") == "1" {
		return
	}
	switch formats := planFormats(w.Pass, n); {
	case !slices.Contains(formats, asDag):
		w.node(n, "the steps of a plan with plan_format "+formats[0]+" run one after another", "write planner: {plan_format: dag}", "max_parallel_steps")
	case strategy(w.Pass) == perStep:
		w.node(n, "with reflector.strategy per_step, steps run one at a time", "set reflector.strategy to batch or adaptive", "max_parallel_steps")
	}
}

// byPlan: tools and criteria of a step are asked for in plans of other formats
// than list. In a list they count only where a model gives them unasked.
func (w writing) byPlan(n part) {
	if slices.ContainsFunc(planFormats(w.Pass, n), func(format string) bool { return format != asList }) {
		return
	}
	if _, delegates := n.entry("agent"); n.text("", "mode") == "guided" && !delegates {
		w.unasked(n, "mode", "which name no tools, so nearly all steps run as with function_calling")
	}
	if n.text("", "verify") == "judge" {
		w.unasked(n, "verify", "which have no success criterion, so nearly no step is judged")
	}
}

func (w writing) unasked(n part, key, because string) {
	if e, ok := n.entry(key); ok && w.InSpecFile(e.Place) {
		w.Warn(diag.NoEffect, e.Place, "%s.%s: %s has almost no effect: the planner is asked for steps as strings, %s", n.id, key, e.Value.Text(), because).
			Hint = "set planner.plan_format to steps or dag"
	}
}

// executing: what an executor asks its model does not matter where another spec
// carries out the steps; a model that writes its calls as text makes one at a
// time.
func (w writing) executing() {
	all := true
	for _, n := range parts(w.Pass) {
		if n.typ != language.Executor {
			continue
		}
		if _, delegates := n.entry("agent"); delegates {
			keys := []string{"executor_system_prompt", "mode", "parallel_tool_calls"}
			if n.text("", "verify") != "judge" { // which is asked by this spec
				keys = append(append(keys, "llm"), language.LLMKeys()...)
			}
			for _, key := range keys {
				w.node(n, "executor.agent runs the steps", "remove it or agent; the agent's spec has its own setting", key)
			}
			continue
		}
		all = false
		if n.text("", "mode") == "react_text" {
			w.node(n, "with mode react_text, the model calls one tool at a time", "remove it, or write mode: function_calling", "parallel_tool_calls")
		}
	}
	if _, inGraph := first(w.Pass, language.Executor); inGraph && all {
		w.key("executor.agent runs the steps", "set it in the agent's spec", "limits", "executor_max_iterations")
	}
}

// reflecting: when the reflector looks is the business of the default graph's
// edges, and under the strategy none it never does.
func (w writing) reflecting() {
	for _, n := range parts(w.Pass) {
		if n.typ != language.Reflector {
			continue
		}
		how := n.text(perStep, "strategy")
		because, hint := "only the strategy adaptive uses it, and the strategy is "+how, "write strategy: adaptive"
		if written(w.Pass) {
			because, hint = "the edges of graph decide when to reflect", "write the condition as when of an edge to "+n.id
		}
		if how != adaptive || written(w.Pass) {
			w.node(n, because, hint, "when")
			w.node(n, because, hint, "triggers")
		} else if n.text("false", "triggers", "viability", "enabled") != "true" {
			w.node(n, "viability is not enabled", "write enabled: true next to it", "triggers", "viability", "min_confidence")
		}
		if how == never && !written(w.Pass) {
			w.unreflected(n)
		}
	}
}

// unreflected are the keys of a reflector that nothing leads to. Its prompt may
// be a part of other templates.
func (w writing) unreflected(n part) {
	because, hint := "with the strategy none, no node reflects", "remove it, or set another strategy"
	keys := []string{"llm", "system_prompt", "reflect_prompt_template"}
	asked := func(section string) bool {
		return bytes.Contains(w.Spec.Tree().Get(section).JSON(), []byte("parameters.reflect_prompt"))
	}
	if !slices.ContainsFunc([]string{language.Planner, language.Finalizer, "prompts"}, asked) {
		keys = append(keys, "reflect_prompt")
	}
	for _, key := range keys {
		w.node(n, because, hint, key)
	}
}

// routing: a router that asks no model has nothing to choose from.
func (w writing) routing() {
	for _, n := range parts(w.Pass) {
		if _, asks := n.entry("prompt"); n.typ != "router" || asks {
			continue
		}
		for _, key := range []string{"llm", "choices", "default", "min_confidence"} {
			w.node(n, "without a prompt no model is called, and the conditions of the edges decide", "write prompt: TEXT with the question to decide", key)
		}
	}
}
