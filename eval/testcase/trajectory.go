package testcase

import (
	"encoding/json"

	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/interrupt"
	"github.com/pexctl/pex/engine/jsonvalue"
	"github.com/pexctl/pex/engine/plan"
	"github.com/pexctl/pex/engine/stop"
	"github.com/pexctl/pex/engine/tool"
)

// trajectory is the part of a result that is the same in every run: without times and
// usage. Its types are separate because users' goldens contain it: later changes of
// results must not affect them.
type trajectory struct {
	Status     stop.RunStatus `json:"status"`
	StopReason pathStop       `json:"stop_reason"`
	Plan       plan.Plan      `json:"plan"`
	Steps      []pathStep     `json:"steps"`
	Interrupts []pathQuestion `json:"interrupts,omitempty"`
	Warnings   []string       `json:"warnings"`
}

type pathStop struct {
	Code    stop.Code      `json:"code"`
	Message string         `json:"message,omitempty"`
	Path    string         `json:"path,omitempty"`
	Status  stop.RunStatus `json:"-"`
}

type pathQuestion struct {
	Path     string          `json:"path"`
	Kind     interrupt.Kind  `json:"kind"`
	Tool     string          `json:"tool,omitempty"`
	Args     json.RawMessage `json:"args,omitempty"`
	Question string          `json:"question,omitempty"`
}

type pathStep struct {
	ID        string      `json:"id"`
	Goal      string      `json:"goal"`
	Status    plan.Status `json:"status"`
	Attempts  int         `json:"attempts"`
	ToolCalls []pathCall  `json:"tool_calls"`
	Result    string      `json:"result"`
	Error     string      `json:"error,omitempty"`
}

type pathCall struct {
	Tool   string          `json:"tool"`
	Args   any             `json:"args"`
	Status tool.CallStatus `json:"status"`
	Result any             `json:"result"`
}

func trajectoryOf(res *engine.Result) trajectory {
	t := trajectory{
		Status: res.Status, StopReason: pathStop(res.StopReason), Plan: res.Plan,
		Steps: make([]pathStep, len(res.Steps)), Warnings: res.Warnings,
	}
	for _, q := range res.Interrupts {
		t.Interrupts = append(t.Interrupts, pathQuestion{q.Path, q.Kind, q.Tool, q.Args, q.Question})
	}
	for i := range res.Steps {
		st := &res.Steps[i]
		t.Steps[i] = pathStep{st.ID, st.Goal, st.Status, st.Attempts, make([]pathCall, len(st.ToolCalls)), st.Result, st.Error}
		for j, c := range st.ToolCalls {
			t.Steps[i].ToolCalls[j] = pathCall{c.Tool, canonical(c.Args), c.Status, plain(c.Result)}
		}
	}
	return t
}

// canonical decodes JSON, because the formatting of a model's arguments is not part of a trajectory.
func canonical(b json.RawMessage) any {
	var v any
	if jsonvalue.Unmarshal(b, &v) != nil {
		return string(b)
	}
	return v
}

func plain(v any) any {
	if b, ok := v.(json.RawMessage); ok {
		return canonical(b)
	}
	return v
}

// addResultArtefacts adds the result to the artefacts.
func (t *try) addResultArtefacts(res *engine.Result) {
	t.artefact("trajectory.json", pretty(trajectoryOf(res)))
	if len(res.Output) > 0 {
		t.artefact("output.json", pretty(canonical(res.Output)))
		return
	}
	t.artefact("output.md", res.Response+"\n")
}
