package engine

import (
	"encoding/json"
	"strings"
	"time"

	"github.com/pexctl/pex/engine/exprenv"
	"github.com/pexctl/pex/engine/jsonvalue"
	"github.com/pexctl/pex/engine/plan"
	"github.com/pexctl/pex/engine/stop"
	"github.com/pexctl/pex/engine/tool"
)

// ArgumentsOf returns the arguments of a call with the digits of their numbers as
// written; nil if they are not an object.
func ArgumentsOf(args json.RawMessage) map[string]any {
	if !json.Valid(args) {
		return nil
	}
	m, _ := jsonvalue.Decode(args).(map[string]any)
	return m
}

// View is what a node may read: the program, the current state and the tools. It is a
// copy and must not be modified.
type View struct {
	Program *Program
	State   State
	Tools   []tool.Info // in spec order
	Started time.Time
	Elapsed time.Duration
	Files   []string
	Stop    *stop.Reason // why the run ends, while its finalizer runs

	InFlight []*ToolCalled // unfinished calls, oldest first

	Conversation bool // the run stores its messages; false = it ignores MessagesAdded
}

// Env returns the variables available to every expression. It omits what the source does
// not mention, to avoid copying: `run.replans > 2` needs no plan.
func (v *View) Env(source string) map[string]any {
	env := map[string]any{"parameters": v.State.Parameters}
	if strings.Contains(source, "run") {
		env["run"] = v.runEnv(source)
	}
	if strings.Contains(source, "plan") {
		env["plan"] = v.planEnv()
	}
	if strings.Contains(source, "reply") {
		env["reply"] = v.State.Reply
	}
	if strings.Contains(source, "step") {
		env["step"] = v.lastStep()
	}
	return env
}

// StepEnv returns Env with a step; nil = an empty step.
func (v *View) StepEnv(source string, rec *plan.StepRecord) map[string]any {
	if rec == nil {
		rec = &plan.StepRecord{}
	}
	env := v.Env(source)
	env["step"] = v.stepEnv(rec)
	return env
}

// OutputEnv is Env with a final answer.
func (v *View) OutputEnv(source string, output any) map[string]any {
	env := v.Env(source)
	env["output"] = output
	return env
}

func (v *View) runEnv(source string) exprenv.Run {
	st := &v.State
	env := exprenv.Run{
		StepsExecuted: st.Executed, Replans: st.Replans, Tokens: st.Usage.Total(),
		Cost: st.Usage.CostUSD, Elapsed: v.Elapsed.Seconds(), ModelCalls: st.Usage.ModelCalls,
		ToolCalls: st.Usage.ToolCalls, NoProgress: st.NoProgress,
	}
	if mentionsCalls(source) {
		env.Calls = make([]exprenv.RunCall, 0, len(st.Calls)+len(v.InFlight))
		for i := range st.Calls {
			env.Calls = append(env.Calls, st.Calls[i].env())
		}
		for _, c := range v.InFlight {
			env.Calls = append(env.Calls, c.env())
		}
	}
	return env
}

// env returns the call as an element of run.calls.
func (c *ToolCalled) env() exprenv.RunCall {
	return exprenv.RunCall{Step: c.Step, Tool: c.Record.Tool, Args: ArgumentsOf(c.Record.Args), Status: string(c.Record.Status)}
}

// mentionsCalls reports whether an expression may read run.calls: it contains the word
// calls other than in model_calls or tool_calls.
func mentionsCalls(source string) bool {
	return strings.Count(source, "calls") > strings.Count(source, "_calls")
}

func (v *View) planEnv() exprenv.Plan {
	p := exprenv.Plan{Version: v.State.Plan.Version}
	for _, st := range v.State.Plan.Steps {
		if rec, ok := v.State.Record(st.ID); ok {
			p.Completed = append(p.Completed, v.stepEnv(&rec))
			p.Steps = append(p.Steps, p.Completed[len(p.Completed)-1])
			continue
		}
		e := exprenv.Step{ID: st.ID, Goal: st.Goal, Tools: st.Tools}
		p.Remaining = append(p.Remaining, e)
		p.Steps = append(p.Steps, e)
	}
	return p
}

func (v *View) lastStep() exprenv.Step {
	if rec, ok := v.State.Record(v.State.LastEnded); ok {
		return v.stepEnv(&rec)
	}
	return exprenv.Step{}
}

// stepEnv returns a step for expressions.
func (v *View) stepEnv(rec *plan.StepRecord) exprenv.Step { return rec.Env(v.State.Plan) }
