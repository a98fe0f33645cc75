package analysis

import (
	"bytes"
	"slices"

	"github.com/pexctl/pex/dsl"
	"github.com/pexctl/pex/dsl/diag"
	"github.com/pexctl/pex/dsl/language"
	"github.com/pexctl/pex/engine"
)

// Strategies of the reflector and formats of plans.
const (
	perStep  = "per_step"
	batch    = "batch"
	adaptive = "adaptive"
	never    = "none"
	asList   = "list"
	asDag    = "dag"
)

// strategy returns the strategy of the first reflector. In a graph without one,
// all steps of a plan run before the graph continues.
func strategy(p *dsl.Pass) string {
	n, inGraph := first(p, language.Reflector)
	if !inGraph {
		return batch
	}
	return n.text(perStep, "strategy")
}

// planFormats returns the plan formats of the planners whose plans a node may
// execute, the nearest first.
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

// steps: the keys that apply to the steps of a plan depend on its format.
func (w effectChecker) steps() {
	for _, n := range parts(w.Pass) {
		if n.typ == language.Executor {
			w.sideBySide(n)
			w.byPlan(n)
		}
	}
}

// sideBySide: steps run in parallel only if the plan lists their dependencies and
// more than one step runs before the next reflection.
func (w effectChecker) sideBySide(n part) {
	if n.text("1", "max_parallel_steps") == "1" {
		return
	}
	switch formats := planFormats(w.Pass, n); {
	case !slices.Contains(formats, asDag):
		w.reportNode(n, "the steps of a plan with plan_format "+formats[0]+" run one after another", "write planner: {plan_format: dag}", "max_parallel_steps")
	case strategy(w.Pass) == perStep:
		w.reportNode(n, "with reflector.strategy per_step, steps run one at a time", "set reflector.strategy to batch or adaptive", "max_parallel_steps")
	}
}

// byPlan: plans in the format list do not ask for tools and criteria of a step.
// They apply only if a model returns them anyway.
func (w effectChecker) byPlan(n part) {
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

func (w effectChecker) unasked(n part, key, because string) {
	if e, ok := n.entry(key); ok && w.InSpecFile(e.Place) {
		w.Warn(diag.NoEffect, e.Place, "%s.%s: %s has almost no effect: the planner is asked for steps as strings, %s", n.id, key, e.Value.Text(), because).
			Hint = "set planner.plan_format to steps or dag"
	}
}

// executing: settings of the executor's requests have no effect if another spec
// executes the steps. A model that writes its tool calls as text makes one call
// at a time.
func (w effectChecker) executing() {
	all := true
	for _, n := range parts(w.Pass) {
		if n.typ != language.Executor {
			continue
		}
		if _, delegates := n.entry("agent"); delegates {
			keys := []string{"executor_system_prompt", "mode", "parallel_tool_calls"}
			if n.text("", "verify") != "judge" { // the judge is a model of this spec
				keys = append(append(keys, "llm"), language.LLMKeys()...)
			}
			for _, key := range keys {
				w.reportNode(n, "executor.agent runs the steps", "remove it or agent; the agent's spec has its own setting", key)
			}
			continue
		}
		all = false
		if n.text("", "mode") == "react_text" {
			w.reportNode(n, "with mode react_text, the model calls one tool at a time", "remove it, or write mode: function_calling", "parallel_tool_calls")
		}
	}
	if _, inGraph := first(w.Pass, language.Executor); inGraph && all {
		w.reportKey("executor.agent runs the steps", "set it in the agent's spec", "limits", "executor_max_iterations")
	}
}

// reflecting: the edges of the default graph decide when the reflector runs. With
// the strategy none it never runs.
func (w effectChecker) reflecting() {
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
			w.reportNode(n, because, hint, "when")
			w.reportNode(n, because, hint, "triggers")
		} else if n.text("false", "triggers", "viability", "enabled") != "true" {
			w.reportNode(n, "viability is not enabled", "write enabled: true next to it", "triggers", "viability", "min_confidence")
		}
		if how == never && !written(w.Pass) {
			w.unreflected(n)
		}
	}
}

// unreflected returns the keys of a reflector that never runs. Its prompt may
// still be part of other templates.
func (w effectChecker) unreflected(n part) {
	because, hint := "with the strategy none, no node reflects", "remove it, or set another strategy"
	keys := []string{"llm", "system_prompt", "reflect_prompt_template"}
	asked := func(section string) bool {
		return bytes.Contains(w.Spec.Tree().Get(section).JSON(), []byte("parameters.reflect_prompt"))
	}
	if !slices.ContainsFunc([]string{language.Planner, language.Finalizer, "prompts"}, asked) {
		keys = append(keys, "reflect_prompt")
	}
	for _, key := range keys {
		w.reportNode(n, because, hint, key)
	}
}

// routing: a router without a model has nothing to choose from.
func (w effectChecker) routing() {
	for _, n := range parts(w.Pass) {
		if _, asks := n.entry("prompt"); n.typ != "router" || asks {
			continue
		}
		for _, key := range []string{"llm", "choices", "default", "min_confidence"} {
			w.reportNode(n, "without a prompt no model is called, and the conditions of the edges decide", "write prompt: TEXT with the question to decide", key)
		}
	}
}
