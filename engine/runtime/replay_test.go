package runtime_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/drift"
	"github.com/pexctl/pex/engine/journal"
	"github.com/pexctl/pex/engine/kernel"
	"github.com/pexctl/pex/engine/model"
	"github.com/pexctl/pex/engine/runtime"
	"github.com/pexctl/pex/engine/runtime/replay"
	"github.com/pexctl/pex/engine/secret"
	"github.com/pexctl/pex/engine/stop"
	"github.com/pexctl/pex/engine/tool"
)

// echo is a model that repeats its prompt and counts its calls.
type echo struct{ calls int }

func (m *echo) Generate(_ context.Context, req *model.Request, _ func(model.Delta)) (*model.Reply, error) {
	m.calls++
	last := req.Messages[len(req.Messages)-1]
	return &model.Reply{Text: "echo " + last.Text.String(), Stop: model.EndTurn}, nil
}

// askingNode calls the model twice and then a tool, and records what it observed.
type askingNode struct {
	prompt   string
	role     string
	tools    []model.ToolDef
	args     string
	observed *[]string
}

func (a askingNode) node(s engine.Scope) error {
	say := func(format string, args ...any) { *a.observed = append(*a.observed, fmt.Sprintf(format, args...)) }
	for i := 1; i <= 2; i++ {
		r, err := s.Model(fmt.Sprintf("model.%d", i), model.Call{
			Role: a.role, LLM: "main", Tools: a.tools,
			Messages: []model.Message{{Role: model.User, Text: model.Text{a.prompt}}},
		})
		if err != nil {
			return err
		}
		say("%s", r.Text)
	}
	rec, _, err := s.Tool("tool", engine.Invocation{Tool: "gadget", Args: json.RawMessage(a.args)})
	say("%s %s", rec.Status, rec.Text())
	return err
}

// runRecorded runs a node with a recording and returns the number of live calls.
func runRecorded(t *testing.T, a askingNode, temperature float64, j journal.Journal, rec *replay.Recording) (res *engine.Result, live int) {
	t.Helper()
	m := &echo{}
	p := program(map[string]nodeFunc{"a": a.node})
	p.Models = []engine.ModelSpec{{Name: "main", Params: model.Params{Temperature: &temperature}}}
	g := &recordingTool{}
	h := engine.Host{Models: map[string]model.Model{"main": m}, Tools: []tool.Binding{{Tool: g}}}
	o := runtime.Options{Virtual: true, Journal: j, Recorded: rec}
	res = execute(t.Context(), p, engine.Input{RunID: "r", Parameters: map[string]any{"question": "q"}}, h, o)
	return res, m.calls + len(g.calls)
}

func TestRecordingAcceptsToleratedDifferences(t *testing.T) {
	recorded := askingNode{prompt: "hello", role: "planner", args: `{"n":1}`, observed: new([]string)}
	first := &journal.Memory{RoundTrip: true}
	if res, _ := runRecorded(t, recorded, 0, first, nil); res.Status != stop.RunCompleted {
		t.Fatal(res.StopReason)
	}
	type change func(*askingNode) float64
	prompt := func(a *askingNode) float64 { a.prompt = "good day"; return 0 }
	hotter := func(*askingNode) float64 { return 1 }
	for _, tt := range []struct {
		name     string
		change   change
		tolerate []drift.Class
		missed   bool
		drifted  []string // paths and classes
	}{
		{"what is the same is no drift", func(*askingNode) float64 { return 0 }, []drift.Class{drift.Prompt}, false, nil},
		{"nothing by itself", prompt, nil, true, nil},
		{"prompts", prompt, []drift.Class{drift.Prompt}, false, []string{"model.1 prompt", "model.2 prompt"}},
		{"prompts, and not parameters", hotter, []drift.Class{drift.Prompt}, true, nil},
		{"parameters", hotter, []drift.Class{drift.Parameters}, false, []string{"model.1 parameters", "model.2 parameters"}},
		{"all or nothing of a request", func(a *askingNode) float64 { prompt(a); return 1 }, []drift.Class{drift.Prompt}, true, nil},
		{"tools", func(a *askingNode) float64 { a.tools = []model.ToolDef{{Name: "x"}}; return 0 }, []drift.Class{drift.Tools}, false, []string{"model.1 tools", "model.2 tools"}},
		{"never another role", func(a *askingNode) float64 { a.role = "judge"; return 0 }, []drift.Class{drift.Prompt}, true, nil},
		{"arguments of a tool", func(a *askingNode) float64 { a.args = `{"n":2}`; return 0 }, []drift.Class{drift.Arguments}, false, []string{"tool arguments"}},
		{"which are no prompt", func(a *askingNode) float64 { a.args = `{"n":2}`; return 0 }, []drift.Class{drift.Prompt}, true, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			now := recorded
			now.observed = new([]string)
			temperature := tt.change(&now)
			rec := replay.New(first.Records, replay.Options{Secrets: secret.New(nil), Tolerate: tt.tolerate})
			res, live := runRecorded(t, now, temperature, &journal.Memory{}, rec)
			if (res.ReplayMismatch != nil) != tt.missed || live != 0 {
				t.Fatalf("missed %v, live calls %d: %+v", res.ReplayMismatch, live, res.StopReason)
			}
			if tt.missed {
				return
			}
			var drifted []string
			for _, d := range rec.Drifts() {
				for _, x := range d.Differences {
					drifted = append(drifted, d.Path+" "+string(x.Class))
				}
			}
			if d := cmp.Diff(tt.drifted, drifted) + cmp.Diff(*recorded.observed, *now.observed); d != "" {
				t.Error(d)
			}
			if unused := rec.Unused(); len(unused) > 0 {
				t.Error("unused:", unused)
			}
		})
	}
}

func TestPassthroughEffectsArePerformed(t *testing.T) {
	recorded := askingNode{prompt: "hello", role: "planner", args: `{}`, observed: new([]string)}
	first := &journal.Memory{RoundTrip: true}
	runRecorded(t, recorded, 0, first, nil)

	var seen []string
	rec := replay.New(first.Records, replay.Options{Secrets: secret.New(nil), Passthrough: func(a kernel.EffectQuery) bool {
		seen = append(seen, a.Path)
		return a.Path == "model.2"
	}})
	now := recorded
	now.observed = new([]string)
	if res, live := runRecorded(t, now, 0, &journal.Memory{}, rec); res.Status != stop.RunCompleted || live != 1 {
		t.Fatalf("%+v, live calls %d", res.StopReason, live)
	}
	if d := cmp.Diff([]string{"model.1", "model.2", "tool"}, seen); d != "" {
		t.Error("order of effects:", d)
	}
	if unused := rec.Unused(); len(unused) > 0 {
		t.Error("unused:", unused)
	}
}

func TestRecordingReturnsResultsByPath(t *testing.T) {
	failed := func(data string) []byte {
		return (&journal.Failure{Code: "model", Message: "m", Data: json.RawMessage(data)}).Encode()
	}
	recs := []journal.Record{
		{Seq: 1, Kind: journal.Start},
		{Seq: 2, Kind: journal.Intent, Class: journal.Read, Path: "m", Body: []byte(`{"messages":[]}`)},
		{Seq: 3, Kind: journal.Result, Path: "m", Body: []byte(`{"text":"hi","stop":"end_turn"}`)},
		{Seq: 4, Kind: journal.Intent, Class: journal.Read, Path: "busy", Body: []byte(`{"messages":[]}`)},
		{Seq: 5, Kind: journal.Result, Path: "busy", Status: journal.Failed, Body: failed(`{"kind":"rate_limit","status":429,"message":"slow"}`)},
		{Seq: 6, Kind: journal.Intent, Class: journal.Read, Path: "t", Body: []byte(`{"tool":"x","args":{}}`)},
		{Seq: 7, Kind: journal.Result, Path: "t", Value: &tool.Output{Text: "given"}},
		{Seq: 8, Kind: journal.Intent, Class: journal.Read, Path: "open", Body: []byte(`{"tool":"x","args":{}}`)},
	}
	r := replay.New(recs, replay.Options{})
	if !r.Answers("m") || r.Answers("open") || r.Answers("nowhere") {
		t.Error("Answers is wrong")
	}
	if reply, err := r.Reply("m"); err != nil || reply.Text != "hi" {
		t.Errorf("%+v, %v", reply, err)
	}
	var me *model.Error
	if _, err := r.Reply("busy"); !errors.As(err, &me) || me.Kind != model.RateLimited || me.Status != 429 {
		t.Errorf("recorded failure: %v", err)
	}
	if _, err := r.Reply("nowhere"); !errors.As(err, &me) {
		t.Errorf("unknown path: %v", err)
	}
	if out, err := r.Output("t"); err != nil || out.Text != "given" {
		t.Errorf("%+v, %v", out, err)
	}
	if _, err := r.Output("open"); err == nil {
		t.Error("an unfinished call has an output")
	}
}

// A recording derives the layer of an effect from its intent.
func TestRecordingUsesOnlyItsLayers(t *testing.T) {
	recs := []journal.Record{
		{Seq: 1, Kind: journal.Start},
		{Seq: 2, Kind: journal.Intent, Class: journal.Read, Path: "memory.read"},
		{Seq: 3, Kind: journal.Result, Path: "memory.read", Body: []byte(`{}`)},
		{Seq: 4, Kind: journal.Intent, Class: journal.Write, Path: "tool", Body: []byte(`{"tool":"x","args":{}}`)},
		{Seq: 5, Kind: journal.Result, Path: "tool", Body: []byte(`{}`)},
		{Seq: 6, Kind: journal.Intent, Class: journal.Read, Path: "model", Body: []byte(`{"new":{},"messages":[]}`)},
		{Seq: 7, Kind: journal.Result, Path: "model", Body: []byte(`{}`)},
	}
	for layers, want := range map[string][]string{replay.LayerLLM: {"model"}, replay.LayerTool: {"tool"}, replay.LayerMemory: nil} {
		r := replay.New(recs, replay.Options{Layers: []string{layers}})
		if d := cmp.Diff(want, r.Unused()); d != "" {
			t.Errorf("%s: %s", layers, d)
		}
	}
}
