package engine

import (
	"encoding/json"
	"strings"
	"time"
)

// View is what a node may read: the program, the state as it is now, and the
// tools there are. It is a copy; nothing in it is to be changed.
type View struct {
	Program *Program
	State   State
	Tools   []ToolInfo // in spec order
	Started time.Time
	Elapsed time.Duration
	Files   []string
	Stop    *StopReason // why the run ends, while its finalizer writes the answer

	inFlight []*ToolCalled // calls that have not ended, oldest first
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
func (v View) StepEnv(source string, rec StepRecord) map[string]any {
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

func (v View) runEnv(source string) RunEnv {
	st := &v.State
	env := RunEnv{
		StepsExecuted: st.Executed, Replans: st.Replans, Tokens: st.Usage.Total(),
		Cost: st.Usage.CostUSD, Elapsed: v.Elapsed.Seconds(), ModelCalls: st.Usage.ModelCalls,
		ToolCalls: st.Usage.ToolCalls, NoProgress: st.NoProgress,
	}
	if mentionsCalls(source) {
		env.Calls = make([]RunCallEnv, 0, len(st.Calls)+len(v.inFlight))
		for i := range st.Calls {
			env.Calls = append(env.Calls, st.Calls[i].env())
		}
		for _, c := range v.inFlight {
			env.Calls = append(env.Calls, c.env())
		}
	}
	return env
}

// env is the call as an element of run.calls.
func (c *ToolCalled) env() RunCallEnv {
	return RunCallEnv{c.Step, c.Record.Tool, argsOf(c.Record.Args), string(c.Record.Status)}
}

// mentionsCalls reports whether an expression may read run.calls: whether it has
// the word calls, and not as a part of model_calls or tool_calls alone.
func mentionsCalls(source string) bool {
	return strings.Count(source, "calls") > strings.Count(source, "_calls")
}

func (v View) planEnv() PlanEnv {
	p := PlanEnv{Version: v.State.Plan.Version}
	for _, st := range v.State.Plan.Steps {
		if rec, ok := v.State.Record(st.ID); ok {
			p.Completed = append(p.Completed, v.stepEnv(&rec))
			p.Steps = append(p.Steps, p.Completed[len(p.Completed)-1])
			continue
		}
		e := StepEnv{ID: st.ID, Goal: st.Goal, Tools: st.Tools}
		p.Remaining = append(p.Remaining, e)
		p.Steps = append(p.Steps, e)
	}
	return p
}

func (v View) lastStep() StepEnv {
	if rec, ok := v.State.Record(v.State.last); ok {
		return v.stepEnv(&rec)
	}
	return StepEnv{}
}

// stepEnv is a step of the run as expressions see it.
func (v View) stepEnv(rec *StepRecord) StepEnv { return rec.env(v.State.Plan) }

// env is the step as expressions see it; plan is the run's.
func (r *StepRecord) env(plan Plan) StepEnv {
	e := StepEnv{
		ID: r.ID, Goal: r.Goal, Status: string(r.Status), Attempts: r.Attempts,
		Result: r.Result, Output: r.Output(), Error: r.Error, ToolCalls: len(r.ToolCalls),
	}
	for i := range plan.Steps {
		if plan.Steps[i].ID == r.ID {
			e.Tools = plan.Steps[i].Tools
		}
	}
	return e
}

// Output is the result parsed as JSON where it is a JSON object, array,
// number, boolean or string; else the text.
func (r StepRecord) Output() any {
	if !looksLikeJSON(r.Result) {
		return r.Result
	}
	if b := []byte(r.Result); json.Valid(b) {
		return PlainJSON(b)
	}
	return r.Result
}

// looksLikeJSON spares most texts a failed parse.
func looksLikeJSON(s string) bool {
	for i := range len(s) {
		switch c := s[i]; c {
		case ' ', '\t', '\n', '\r':
			continue
		case '{', '[', '"', '-', 't', 'f', '0', '1', '2', '3', '4', '5', '6', '7', '8', '9':
			return true
		default:
			return false
		}
	}
	return false
}
