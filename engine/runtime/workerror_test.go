package runtime_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/enginetest"
	"github.com/pexctl/pex/engine/kernel"
	"github.com/pexctl/pex/engine/model"
	"github.com/pexctl/pex/engine/runtime"
	"github.com/pexctl/pex/engine/stop"
	"github.com/pexctl/pex/engine/tool"
)

// TestWorkThatCannotBePerformed gives work to workers that cannot perform it. The outcome ends
// the session; only what may be possible later leaves the run as it is.
func TestWorkThatCannotBePerformed(t *testing.T) {
	const agent = `"agents": [{"agent": 0, "path": "x/agent"}]`
	tests := []struct{ name, work, want string }{
		{"an unknown llm", `{"path": "p", "model": {"llm": "other", "request": {}}}`, `p: llm "other" is not in the program`},
		{"an unknown tool", `{"path": "p", "tool": {"tool": "other", "args": {}}}`, `p: tool "other" is not in the program`},
		{"an unknown server", `{"path": "p", "tool": {"tool": "other__t", "server": "other", "args": {}}}`, `p: tool server "other" is not in the program`},
		{"a tool instead of a server", `{"path": "p", "list": {"toolset": "panics"}}`, `p: tool server "panics" is not in the program`},
		{"a tool without a definition", `{"path": "p", "tool": {"tool": "srv__t", "server": "srv", "args": {}}}`, `p: tool "srv__t" of server srv has no definition`},
		{"an unknown agent", `{"path": "p", "agents": [{"agent": 7, "path": "x/agent"}], "list": {"toolset": "srv"}}`, "p: agent x/agent: program sha256:p has no such agent"},
		{"an agent of an unknown agent", `{"path": "p", "agents": [{"agent": -1, "path": "x/agent"}], "list": {"toolset": "srv"}}`, "p: agent x/agent: program sha256:p has no such agent"},
		{"an agent whose host cannot be opened", `{"path": "p", ` + agent + `, "list": {"toolset": "srv"}}`, "p: agent inner: no route"},
		{"another kind of work", `{"path": "p", "dream": {}}`, "p: the work is of an unknown kind; the worker has another version"},
		{"a model that panics", `{"path": "p", "model": {"llm": "panics", "request": {}}}`, "p: boom"},
		{"a tool that panics", `{"path": "p", "tool": {"tool": "panics", "args": {}}}`, "p: boom"},
		{"no memory", `{"path": "p", "history": {"memory": "m"}}`, "p: the worker has no memory"},
		{"no session state", `{"path": "p", "session": {"notes": true}}`, "p: the worker has no memory"},
		{"nowhere to store", `{"path": "p", "store": {"interactions": [{}]}}`, "p: the worker has no memory"},
	}
	p := program(nil)
	p.Models, p.Agents = []engine.ModelSpec{{Name: "panics"}}, []*engine.Program{program(nil)}
	p.Agents[0].Name = "inner"
	panics := funcTool{tool.ReadEffect, func(context.Context, *tool.Call) (*tool.Output, error) { panic("boom") }}
	h := engine.Host{
		Models: map[string]model.Model{"panics": panickingModel{}}, Tools: []tool.Binding{named("panics", panics), named("srv", &enginetest.Toolset{})},
		Nested: func(*engine.Program, map[string]any) (engine.Host, error) {
			return engine.Host{}, errors.New("no route")
		},
	}
	site := runtime.NewSite(p, h, engine.Input{RunID: "r"})
	defer site.Close()
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var w runtime.Work
			if err := json.Unmarshal([]byte(tt.work), &w); err != nil {
				t.Fatal(err)
			}
			out := site.Perform(t.Context(), &w, nil)
			if out.Fatal == nil || !strings.Contains(out.Fatal.Error(), strings.TrimPrefix(tt.want, "p: ")) || !strings.Contains(out.Fatal.Error(), "p") {
				t.Errorf("%v", out.Fatal)
			}
			if _, later := errors.AsType[*kernel.Unavailable](out.Fatal); later != strings.Contains(tt.want, "no route") {
				t.Errorf("possible later: %v: %v", later, out.Fatal)
			}
			if _, err := out.AppendBinary(nil); !errors.Is(err, out.Fatal) {
				t.Errorf("it is sent as an outcome: %v", err)
			}
		})
	}
}

// panickingModel is a model with a bug.
type panickingModel struct{}

func (panickingModel) Generate(context.Context, *model.Request, func(model.Delta)) (*model.Reply, error) {
	panic("boom")
}

// TestWorkerWithAnotherProgramEndsTheRun runs a program whose worker has another one: the run
// fails, with the reason, before a model is called.
func TestWorkerWithAnotherProgramEndsTheRun(t *testing.T) {
	for _, r := range workRuns() {
		t.Run(r.name, func(t *testing.T) {
			_, h := r.build(&process{t, &services{}, false})
			p, _ := r.build(&process{t, &services{}, false})
			site := runtime.NewSite(program(nil), engine.Host{}, question())
			world := &enginetest.World{Perform: func(task kernel.Task) kernel.Outcome { return site.Perform(t.Context(), runtime.WorkOf(task), nil) }}
			in := question()
			in.MemoryID = "m"
			res := runtime.Run(t.Context(), p, in, h, runtime.Options{Virtual: true, World: world})
			if res.StopReason.Code != stop.Internal || res.Status != stop.RunFailed || res.Usage.ModelCalls > 0 {
				t.Errorf("%+v", res.StopReason)
			}
		})
	}
}
