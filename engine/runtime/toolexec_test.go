package runtime_test

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/interrupt"
	"github.com/pexctl/pex/engine/runtime"
	"github.com/pexctl/pex/engine/stop"
	"github.com/pexctl/pex/engine/tool"
)

// callOnce calls the tool with CallTool; the node of the program must not run.
func callOnce(t *testing.T, g *recordingTool, u engine.Invocation, people interrupt.Responder, guards ...engine.Guard) (tool.Record, *engine.Result, error) {
	t.Helper()
	var rec tool.Record
	p, h := singleCallProgram(g, `{"n":1}`, &rec, guards...)
	h.Responder = people
	u.Tool = "gadget"
	got, res, err := runtime.CallTool(t.Context(), p, engine.Input{RunID: "r"}, h, runtime.Options{Virtual: true}, u)
	if rec.Tool != "" {
		t.Error("a node of the program ran")
	}
	return got.Record, res, err
}

func TestCallToolBehavesLikeAStep(t *testing.T) {
	g := &recordingTool{fails: 2}
	p := &answers{typed: []string{`edit:{"n":2}`}}
	rec, res, err := callOnce(t, g, engine.Invocation{Args: json.RawMessage(`{"n":1}`)}, p)
	want := tool.Record{Tool: "gadget", Args: json.RawMessage(`{"n":2}`), Result: "done", Status: tool.CallOK, Edited: true}
	if d := cmp.Diff(want, rec, cmp.FilterPath(func(p cmp.Path) bool {
		return slices.Contains([]string{".ModelText", ".CallID", ".Turn", ".DurationMS"}, p.Last().String())
	}, cmp.Ignore())); d != "" || err != nil {
		t.Error(err, d)
	}
	if res.Status != stop.RunCompleted || res.Usage.ToolCalls != 1 || res.Usage.ModelCalls != 0 {
		t.Errorf("%s, %+v", res.Status, res.Usage)
	}
	if len(p.asked) != 1 || p.asked[0].Question != "May gadget be called?" {
		t.Errorf("asked %+v", p.asked)
	}
	if d := cmp.Diff([]string{`{"n":2}`, `{"n":2}`, `{"n":2}`}, g.calls); d != "" {
		t.Error("a read is repeated, with the arguments as edited:", d)
	}
}

func TestCallToolReportsWhyNoCallWasMade(t *testing.T) {
	end := engine.Guard{Name: "stop", At: engine.BeforeTool, When: above(5), Do: engine.GuardStop, Message: "too much"}
	deny := engine.Guard{Name: "deny", At: engine.BeforeTool, When: above(5), Do: engine.GuardDeny, Message: "too much"}
	for _, tt := range []struct {
		name, args string
		guards     []engine.Guard
		unfit      string
		status     stop.RunStatus
		call       tool.CallStatus
		open       int
	}{
		{name: "arguments that do not fit", args: `{"n":100}`, unfit: "n: 100 is not below 100", status: stop.RunCompleted},
		{name: "arguments that are no object", args: `[]`, unfit: "are not a JSON object", status: stop.RunCompleted},
		{name: "nobody to approve it", args: `{"n":1}`, status: stop.RunInterrupted, open: 1},
		{name: "no arguments are an empty object", status: stop.RunInterrupted, open: 1},
		{name: "a guard that denies", args: `{"n":6}`, guards: []engine.Guard{deny}, status: stop.RunCompleted, call: tool.CallDenied},
		{name: "a guard that stops", args: `{"n":6}`, guards: []engine.Guard{end}, status: stop.RunStopped},
	} {
		t.Run(tt.name, func(t *testing.T) {
			g := &recordingTool{}
			rec, res, err := callOnce(t, g, engine.Invocation{Args: json.RawMessage(tt.args)}, nil, tt.guards...)
			unfit, ok := errors.AsType[*tool.ArgumentsError](err)
			if ok != (tt.unfit != "") || ok && !strings.Contains(unfit.Error(), tt.unfit) {
				t.Errorf("error %v, want %q", err, tt.unfit)
			}
			if res.Status != tt.status || rec.Status != tt.call || len(res.Interrupts) != tt.open || len(g.calls) != 0 {
				t.Errorf("%s, %q, %v, called with %v", res.Status, rec.Status, res.Interrupts, g.calls)
			}
		})
	}
}
