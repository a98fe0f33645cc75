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

// at is what the guards of a place see.
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

// planApproval is what approvals of a plan see.
func (o *placeBounds) planApproval() interval.Bounds { return o.afterReply() }

// afterReply is what there is once a model has planned.
func (o *placeBounds) afterReply() interval.Bounds {
	b := o.common()
	b["run"] = o.run(map[string]interval.Range{"model_calls": atLeast(1).Because("the planner was called")})
	return b
}

// duringStep is what there is while a step runs, or behind it; spare is how many of
// the tool calls that are allowed cannot have ended.
func (o *placeBounds) duringStep(spare int) interval.Bounds {
	b, l := o.common(), o.Program.Limits
	here := map[string]interval.Range{"steps_executed": interval.Whole(1, float64(l.MaxSteps)).Because("limits.max_steps")}
	if l.MaxToolCalls > 0 {
		here["tool_calls"] = interval.Whole(0, float64(max(l.MaxToolCalls-spare, 0))).Because("limits.max_tool_calls")
	}
	b["run"] = o.run(here)
	return b
}

// outcomes are the statuses that the steps of an executor end with.
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

// verify sees steps that went well so far.
func (o *placeBounds) verify() interval.Bounds {
	b := o.duringStep(0)
	b["step"] = o.step(map[string]interval.Range{"attempts": interval.Whole(1, attempts), "error": interval.Words("")}, string(plan.OK))
	return b
}

// endedStep is what the reflector's triggers see: steps that ended, or were skipped.
func (o *placeBounds) endedStep() interval.Bounds {
	b := o.common()
	b["step"] = o.step(nil, ended...)
	return b
}

// tool is what conditions around the calls of some tools see. The step is
// under way: it has no status yet.
func (o *placeBounds) tool(tools []dsl.Tool, after bool) interval.Bounds {
	spare := 1 // the call itself
	if after {
		spare = 0
	}
	b := o.duringStep(spare)
	fields := blank()
	fields["attempts"] = interval.Whole(1, attempts)
	fields["status"] = interval.Words("").Because("the step is running")
	b["step"] = o.step(fields)
	call := map[string]interval.Range{"effect": o.effectsOf(tools), "attempts": interval.Whole(1, 1).Because("the call has not been made yet")}
	if names, known := namesOf(tools); known {
		call["name"] = interval.Words(names...)
	}
	if after {
		call["attempts"] = interval.Whole(1, float64(tries(tools)))
	} else {
		call["error"], call["result"] = interval.Words("").Because("the call has not been made yet"), interval.Nothing().Because("the call has not been made yet")
	}
	b["tool"] = interval.OfType(exprenv.Tool{}).With(call)
	return b
}

// approval is what the approval of one tool sees; name is that of a tool of a
// server, "" = the entry itself, or any of the server's.
func (o *placeBounds) approval(t *dsl.Tool, name string) interval.Bounds {
	b := o.tool([]dsl.Tool{*t}, false)
	if name != "" {
		b["tool"] = b["tool"].With(map[string]interval.Range{"name": interval.Words(name), "effect": interval.Words(effects...)})
	}
	return b
}

// effectsOf is what calls of tools do; what a server says of its own is not
// known here.
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

// namesOf is what calls of tools are called; known is false where a server may
// have any.
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

// tries is how often a call of a tool is made at most.
func tries(tools []dsl.Tool) int {
	n := 1
	for i := range tools {
		n = max(n, tools[i].Spec.Retry.MaxAttempts)
	}
	return n
}

// edge is what the edges of a node see: the step that ended last, if any, and
// what the node said.
func (o *placeBounds) edge(from dsl.Value) interval.Bounds {
	b := o.common()
	b["step"] = o.step(nil, append([]string{""}, ended...)...)
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
			return b // it says nothing
		}
		said["text"] = interval.Words(choices(from)...)
	default:
		return b
	}
	b["reply"] = interval.OfType(exprenv.Reply{}).With(said)
	return b
}

// choices are the words of a router.
func choices(router dsl.Value) (out []string) {
	for _, c := range router.Get("choices").Items() {
		out = append(out, c.Text())
	}
	if d := router.Get("default").Text(); d != "" || len(out) == 0 {
		out = append(out, d)
	}
	return out
}

// compaction sees the size of a request.
func (o *placeBounds) compaction() interval.Bounds {
	b := o.common()
	b["memory"] = interval.OfType(exprenv.Memory{}).With(map[string]interval.Range{"tokens": atLeast(0), "messages": atLeast(0)})
	return b
}

// ensures sees an answer that fits the output schema.
func (o *placeBounds) ensures() interval.Bounds {
	b := o.common()
	b["output"] = interval.Text()
	if out := o.Program.Output; out != nil && !out.Schema.IsZero() {
		b["output"] = interval.OfSchema(decoded(out.Schema.JSON))
	}
	return b
}
