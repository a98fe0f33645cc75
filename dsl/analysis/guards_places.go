package analysis

import (
	"slices"

	"github.com/pexctl/pex/dsl"
	"github.com/pexctl/pex/dsl/guard/interval"
	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/exprenv"
	"github.com/pexctl/pex/engine/plan"
	"github.com/pexctl/pex/engine/tool"
)

var effects = []string{string(tool.ReadEffect), string(tool.IdempotentEffect), string(tool.WriteEffect)}

// at returns the bounds of what guards see in a place.
func (o *placeBounds) at(place engine.GuardPlace) interval.Bounds {
	switch place {
	case engine.AfterPlan, engine.AfterReflect:
		return o.afterReply()
	case engine.AfterStep:
		b := o.duringStep(0)
		b["step"] = o.step(map[string]interval.Range{"attempts": interval.Whole(1, attempts)}, o.outcomes()...)
		return b
	case engine.BeforeTool:
		return o.tool(o.Tools, false)
	case engine.AfterTool:
		return o.tool(o.Tools, true)
	}
	return o.common()
}

// planApproval returns the bounds of what approvals of a plan see.
func (o *placeBounds) planApproval() interval.Bounds { return o.afterReply() }

// afterReply returns the bounds once a model has returned a plan.
func (o *placeBounds) afterReply() interval.Bounds {
	b := o.common()
	b["run"] = o.run(map[string]interval.Range{"model_calls": atLeast(1).Because("the planner was called")})
	return b
}

// duringStep returns the bounds while a step runs, or after it. spare is the
// number of allowed tool calls that cannot have ended yet.
func (o *placeBounds) duringStep(spare int) interval.Bounds {
	b, l := o.common(), o.Program.Limits
	here := map[string]interval.Range{"steps_executed": interval.Whole(1, float64(l.MaxSteps)).Because("limits.max_steps")}
	if l.MaxToolCalls > 0 {
		here["tool_calls"] = interval.Whole(0, float64(max(l.MaxToolCalls-spare, 0))).Because("limits.max_tool_calls")
	}
	b["run"] = o.run(here)
	return b
}

// outcomes returns the statuses with which steps of an executor end.
func (o *placeBounds) outcomes() []string {
	out := []string{string(plan.OK), string(plan.Failed), string(plan.Limit), string(plan.Loop), string(plan.Timeout)}
	cut := func(g engine.Guard) bool {
		return g.Do == engine.GuardReplan && (g.At == engine.BeforeTool || g.At == engine.AfterTool)
	}
	if o.delegated || slices.ContainsFunc(o.Program.Guards, cut) {
		out = append(out, string(plan.Cancelled))
	}
	return out
}

// verify returns the bounds of what verifications see: steps that have succeeded
// so far.
func (o *placeBounds) verify() interval.Bounds {
	b := o.duringStep(0)
	b["step"] = o.step(map[string]interval.Range{"attempts": interval.Whole(1, attempts), "error": interval.Words("")}, string(plan.OK))
	return b
}

// endedStep returns the bounds of what the reflector's triggers see: steps that
// ended or were skipped.
func (o *placeBounds) endedStep() interval.Bounds {
	b := o.common()
	b["step"] = o.step(nil, endedStatuses...)
	return b
}

// tool returns the bounds of what conditions see before or after calls of some
// tools. The step is still running, so it has no status.
func (o *placeBounds) tool(tools []dsl.Tool, after bool) interval.Bounds {
	spare := 1 // the call itself
	if after {
		spare = 0
	}
	b := o.duringStep(spare)
	fields := emptyStep()
	fields["attempts"] = interval.Whole(1, attempts)
	fields["status"] = interval.Words("").Because("the step is running")
	b["step"] = o.step(fields)
	call := map[string]interval.Range{"effect": o.effectsOf(tools), "attempts": interval.Whole(1, 1).Because("the call has not been made yet")}
	if names, known := namesOf(tools); known {
		call["name"] = interval.Words(names...)
	}
	if after {
		call["attempts"] = interval.Whole(1, float64(maxAttempts(tools)))
	} else {
		call["error"], call["result"] = interval.Words("").Because("the call has not been made yet"), interval.Nothing().Because("the call has not been made yet")
	}
	b["tool"] = interval.OfType(exprenv.Tool{}).With(call)
	return b
}

// approval returns the bounds of what the approval of one tool sees. name is that
// of a server's tool, or "" for the entry itself or any of the server's tools.
func (o *placeBounds) approval(t *dsl.Tool, name string) interval.Bounds {
	b := o.tool([]dsl.Tool{*t}, false)
	if name != "" {
		b["tool"] = b["tool"].With(map[string]interval.Range{"name": interval.Words(name), "effect": interval.Words(effects...)})
	}
	return b
}

// effectsOf returns the effects that calls of tools can have. What a server
// declares is not known here.
func (o *placeBounds) effectsOf(tools []dsl.Tool) interval.Range {
	var words []string
	for i := range tools {
		if tools[i].Server || tools[i].Spec.Effect == "" {
			return interval.Words(effects...)
		}
		words = append(words, string(tools[i].Spec.Effect))
	}
	return interval.Words(words...)
}

// namesOf returns the names under which tools are called. known is false for a
// server whose tools can have any name.
func namesOf(tools []dsl.Tool) (names []string, known bool) {
	for i := range tools {
		switch {
		case !tools[i].Server:
			names = append(names, tools[i].Spec.Name)
		case tools[i].Pinned:
			names = append(names, tools[i].Members...)
		default:
			return nil, false
		}
	}
	return names, true
}

// maxAttempts returns the maximum number of attempts of a call of the tools.
func maxAttempts(tools []dsl.Tool) int {
	n := 1
	for i := range tools {
		n = max(n, tools[i].Spec.Retry.MaxAttempts)
	}
	return n
}

// edge returns the bounds of what the edges of a node see: the step that ended
// last, if any, and the node's output.
func (o *placeBounds) edge(from dsl.Value) interval.Bounds {
	b := o.common()
	b["step"] = o.step(nil, append([]string{""}, endedStatuses...)...)
	said := map[string]interval.Range{"result": interval.Words("").Because("only the planner and the reflector have one"), "steps": interval.List(0, 0, interval.Text())}
	own := func(statuses ...plan.Status) {
		words := make([]string, len(statuses))
		for i, s := range statuses {
			words[i] = string(s)
		}
		b["step"] = o.step(nil, words...)
	}
	switch from.Get("type").Text() {
	case "tool", "transform":
		own(plan.OK, plan.Failed)
	case "human":
		own(plan.OK)
	case "agent":
		own(plan.OK, plan.Failed, plan.Limit, plan.Cancelled)
	case "router":
		if !from.Get("prompt").Exists() {
			return b // no output
		}
		said["text"] = interval.Words(choices(from)...)
	default:
		return b
	}
	b["reply"] = interval.OfType(exprenv.Reply{}).With(said)
	return b
}

// choices returns the words that a router can choose.
func choices(router dsl.Value) (out []string) {
	for _, c := range router.Get("choices").Items() {
		out = append(out, c.Text())
	}
	if d := router.Get("default").Text(); d != "" || len(out) == 0 {
		out = append(out, d)
	}
	return out
}

// compaction returns the bounds of what compaction rules see: the size of a
// request.
func (o *placeBounds) compaction() interval.Bounds {
	b := o.common()
	b["memory"] = interval.OfType(exprenv.Memory{}).With(map[string]interval.Range{"tokens": atLeast(0), "messages": atLeast(0)})
	return b
}

// ensures returns the bounds of what ensures see: an answer that matches the
// output schema.
func (o *placeBounds) ensures() interval.Bounds {
	b := o.common()
	b["output"] = interval.Text()
	if out := o.Program.Output; out != nil && !out.Schema.IsZero() {
		b["output"] = interval.OfSchema(decoded(out.Schema.JSON))
	}
	return b
}
