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

// ArgumentsOf is the arguments of a call, numbers with the digits they were written
// with; what is no object has none that expressions could name.
func ArgumentsOf(args json.RawMessage) map[string]any {
	if !json.Valid(args) {
		return nil
	}
	m, _ := jsonvalue.Decode(args).(map[string]any)
	return m
}

// View is what a node may read: the program, the state as it is now, and the
// tools there are. It is a copy; nothing in it is to be changed.
type View struct {
	Program *Program
	State   State
	Tools   []tool.Info // in spec order
	Started time.Time
	Elapsed time.Duration
	Files   []string
	Stop    *stop.Reason // why the run ends, while its finalizer writes the answer

	InFlight []*ToolCalled // calls that have not ended, oldest first
}

// Model returns the llm of a name.
func (v View) Model(name string) *ModelSpec {
	for i := range v.Program.Models {
		if v.Program.Models[i].Name == name {
			return &v.Program.Models[i]
		}
	}
	return nil
}

// Env is the values an expression sees everywhere at run time. What the
// source does not mention is left out: a plan is not copied for `run.replans > 2`.
func (v View) Env(source string) map[string]any {
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

// StepEnv is Env with a step.
func (v View) StepEnv(source string, rec plan.StepRecord) map[string]any {
	env := v.Env(source)
	env["step"] = v.stepEnv(&rec)
	return env
}

// OutputEnv is Env with a final answer.
func (v View) OutputEnv(source string, output any) map[string]any {
	env := v.Env(source)
	env["output"] = output
	return env
}

func (v View) runEnv(source string) exprenv.Run {
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

// env is the call as an element of run.calls.
func (c *ToolCalled) env() exprenv.RunCall {
	return exprenv.RunCall{Step: c.Step, Tool: c.Record.Tool, Args: ArgumentsOf(c.Record.Args), Status: string(c.Record.Status)}
}

// mentionsCalls reports whether an expression may read run.calls: whether it has
// the word calls, and not as a part of model_calls or tool_calls alone.
func mentionsCalls(source string) bool {
	return strings.Count(source, "calls") > strings.Count(source, "_calls")
}

func (v View) planEnv() exprenv.Plan {
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

func (v View) lastStep() exprenv.Step {
	if rec, ok := v.State.Record(v.State.Last); ok {
		return v.stepEnv(&rec)
	}
	return exprenv.Step{}
}

// stepEnv is a step of the run as expressions see it.
func (v View) stepEnv(rec *plan.StepRecord) exprenv.Step { return rec.Env(v.State.Plan) }
