package faultinject_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pexctl/pex/dsl/testspec"
	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/drift"
	"github.com/pexctl/pex/engine/graph"
	"github.com/pexctl/pex/engine/journal"
	"github.com/pexctl/pex/engine/model"
	"github.com/pexctl/pex/engine/retry"
	"github.com/pexctl/pex/engine/runtime"
	"github.com/pexctl/pex/engine/runtime/replay"
	"github.com/pexctl/pex/engine/secret"
	"github.com/pexctl/pex/engine/stop"
	"github.com/pexctl/pex/engine/tool"
	"github.com/pexctl/pex/eval/faultinject"
)

// agent is a node that calls the planner until it gets a plan, then makes two parallel tool calls and records the
// results.
type agent struct{ results *[]string }

func (a agent) Run(s engine.Scope) error {
	for n := 1; n <= 3; n++ {
		r, err := s.Model(fmt.Sprintf("plan.%d", n), model.Call{
			Role: "planner", LLM: "main", Messages: []model.Message{{Role: model.User, Text: model.Text{fmt.Sprint("try ", n)}}},
		})
		if err != nil {
			*a.results = append(*a.results, string(model.AsError(err).Kind))
			return err
		}
		*a.results = append(*a.results, fmt.Sprintf("%s (%s)", r.Text, r.Stop))
		if strings.HasPrefix(r.Text, "plan") && r.Stop == model.EndTurn {
			break
		}
	}
	calls := make([]string, 2)
	err := s.Parallel(2, func(i int) string { return fmt.Sprint("b.", i) }, func(i int, s engine.Scope) error {
		rec, _, err := s.Tool("tool", engine.Invocation{Tool: "look", Args: json.RawMessage(fmt.Sprintf(`{"n":%d}`, i))})
		calls[i] = string(rec.Status) + " " + rec.Text()
		return err
	})
	*a.results = append(*a.results, calls...)
	return err
}

// look is a read tool that returns its arguments.
type look struct{}

func (look) Info() tool.Info { return tool.Info{Name: "look", Effect: tool.ReadEffect} }

func (look) Call(_ context.Context, c *tool.Call) (*tool.Output, error) {
	return &tool.Output{Text: "saw " + string(c.Args)}, nil
}

// script is a sequenced model with the replies "plan one of the best" and "plan two of the best".
type script struct{ replies []string }

func (s *script) ForRun(string) model.Model {
	return &script{[]string{"plan one of the best", "plan two of the best"}}
}

func (s *script) Generate(ctx context.Context, r *model.Request, d func(model.Delta)) (*model.Reply, error) {
	return s.Choose(r).Generate(ctx, r, d)
}

func (s *script) Choose(*model.Request) model.Model {
	next := line(s.replies[0])
	s.replies = s.replies[1:]
	return next
}

type line string

func (l line) Generate(context.Context, *model.Request, func(model.Delta)) (*model.Reply, error) {
	return &model.Reply{Text: string(l), Stop: model.EndTurn}, nil
}

func programOf(results *[]string, fallback bool, attempts int) (*engine.Program, engine.Host) {
	p := &engine.Program{
		Name: "p", Digest: "sha256:p", Nodes: map[string]engine.Node{"a": agent{results}},
		Graph:  &graph.Graph[engine.Condition]{Start: "a", Nodes: []graph.Node{{ID: "a", Type: "test"}}},
		Models: []engine.ModelSpec{{Name: "main"}, {Name: "other"}},
	}
	if fallback {
		p.Models[0].Fallback = []string{"other"}
	}
	spec := &tool.Spec{Name: "look", Retry: retry.Policy{MaxAttempts: attempts, InitialDelay: 1, MaxDelay: 1}}
	return p, engine.Host{
		Models: map[string]model.Model{"main": &script{}, "other": &script{}},
		Tools:  []tool.Binding{{Spec: spec, Tool: look{}}},
	}
}

var input = engine.Input{RunID: "r", Parameters: map[string]any{"question": "q"}}

func TestFaultsHitTheirCalls(t *testing.T) {
	const one, two, saw0, saw1 = "plan one of the best (end_turn)", "plan two of the best (end_turn)", `ok saw {"n":0}`, `ok saw {"n":1}`
	planner := func(call int, e testspec.InjectedError) testspec.Inject {
		return testspec.Inject{Role: "planner", Call: call, Error: e}
	}
	tool := func(call int, e testspec.InjectedError) testspec.Inject {
		return testspec.Inject{Tool: "look", Call: call, Error: e}
	}
	for _, tt := range []struct {
		name     string
		faults   []testspec.Inject
		fallback bool
		attempts int
		results  []string
		missed   int
	}{
		{"none", nil, false, 1, []string{one, saw0, saw1}, 0},
		{"rate limited", []testspec.Inject{planner(1, testspec.Inject429)}, false, 1, []string{"rate_limit"}, 0},
		{"rate limited, and another llm answers", []testspec.Inject{planner(1, testspec.Inject429)}, true, 1, []string{one, saw0, saw1}, 0},
		{"every call", []testspec.Inject{planner(0, testspec.Inject500)}, true, 1, []string{"server_error"}, 0},
		{"no reply in time", []testspec.Inject{planner(1, testspec.InjectTimeout)}, false, 1, []string{"timeout"}, 0},
		{"no JSON, asked again", []testspec.Inject{planner(1, testspec.InjectBadJSON)}, false, 1, []string{"injected: this is no JSON }{ (end_turn)", one, saw0, saw1}, 0},
		{"twice", []testspec.Inject{planner(1, testspec.InjectBadJSON), planner(2, testspec.InjectTruncated)}, false, 1, []string{"injected: this is no JSON }{ (end_turn)", "plan one o (max_tokens)", one, saw0, saw1}, 0},
		{"half a reply", []testspec.Inject{planner(1, testspec.InjectTruncated)}, false, 1, []string{"plan one o (max_tokens)", one, saw0, saw1}, 0},
		{"a refusal", []testspec.Inject{planner(1, testspec.InjectRefusal)}, false, 1, []string{"injected: I cannot help with that. (refusal)", one, saw0, saw1}, 0},
		{"the second call of a tool", []testspec.Inject{tool(2, testspec.Inject500)}, false, 1, []string{one, saw0, "error injected: 500 Internal Server Error"}, 0},
		{"that a retry recovers from", []testspec.Inject{tool(2, testspec.Inject500)}, false, 2, []string{one, saw0, saw1}, 0},
		{"unless it is every call", []testspec.Inject{tool(0, testspec.Inject429)}, false, 2, []string{one, "error injected: 429 Too Many Requests", "error injected: 429 Too Many Requests"}, 0},
		{"one call otherwise than every call", []testspec.Inject{tool(0, testspec.Inject429), tool(2, testspec.Inject500)}, false, 1, []string{one, "error injected: 429 Too Many Requests", "error injected: 500 Internal Server Error"}, 0},
		{"a tool too late", []testspec.Inject{tool(1, testspec.InjectTimeout)}, false, 1, []string{one, "timeout the tool timed out after 1m0s: injected: no answer in time: context deadline exceeded", saw1}, 0},
		{"a tool's nonsense", []testspec.Inject{tool(1, testspec.InjectBadJSON)}, false, 1, []string{one, "ok injected: this is no JSON }{", saw1}, 0},
		{"a call that never comes", []testspec.Inject{planner(7, testspec.Inject429), tool(3, testspec.Inject500)}, false, 1, []string{one, saw0, saw1}, 2},
	} {
		results := []string{}
		clean := &journal.Memory{}
		p, h := programOf(&results, tt.fallback, tt.attempts)
		runtime.Run(t.Context(), p, input, h, runtime.Options{Virtual: true, Journal: clean})
		for _, taped := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, taped %v", tt.name, taped), func(t *testing.T) {
				results = []string{}
				f, err := faultinject.New(tt.faults)
				if err != nil {
					t.Fatal(err)
				}
				o := replay.Options{Passthrough: f.Passthrough, Live: true}
				host := h
				var recs []journal.Record
				if taped {
					o.Live, o.Secrets, o.Tolerate = false, secret.New(nil), []drift.Class{drift.Prompt}
					recs, host.Models = clean.Records, nil
				}
				rec := replay.New(recs, o)
				if taped {
					f.Replay(rec, nil)
				}
				runtime.Run(t.Context(), p, input, f.Host(p, host), runtime.Options{Virtual: true, Journal: &journal.Memory{}, Recorded: rec})
				if d := cmp.Diff(tt.results, results); d != "" || len(f.Unmatched()) != tt.missed {
					t.Errorf("missed %v, %s", f.Unmatched(), d)
				}
			})
		}
	}
}

// A recording made with faults replays with the same faults.
func TestRecordingWithFaultsReplays(t *testing.T) {
	faults := []testspec.Inject{
		{Role: "planner", Call: 1, Error: testspec.InjectTruncated},
		{Role: "planner", Call: 2, Error: testspec.InjectBadJSON},
		{Tool: "look", Call: 1, Error: testspec.Inject500},
	}
	var results [2][]string
	records := &journal.Memory{}
	for i := range results {
		got := []string{}
		p, h := programOf(&got, false, 1)
		f, err := faultinject.New(faults)
		if err != nil {
			t.Fatal(err)
		}
		o := runtime.Options{Virtual: true, Journal: records, Recorded: replay.New(nil, replay.Options{Passthrough: f.Passthrough, Live: true})}
		if i == 1 {
			rec := replay.New(records.Records, replay.Options{Passthrough: f.Passthrough, Secrets: secret.New(nil)})
			f.Replay(rec, nil)
			h.Models, o.Recorded, o.Journal = nil, rec, &journal.Memory{}
		}
		if res := runtime.Run(t.Context(), p, input, f.Host(p, h), o); res.Status != stop.RunCompleted {
			t.Fatalf("%d: %+v", i, res.StopReason)
		}
		results[i] = got
	}
	if d := cmp.Diff(results[0], results[1]); d != "" {
		t.Error(d)
	}
}

func TestInvalidFaultsAreErrors(t *testing.T) {
	for _, tt := range []struct {
		name string
		in   testspec.Inject
		want string
	}{
		{"a tool does not refuse", testspec.Inject{Tool: "x", Error: testspec.InjectRefusal}, "a tool cannot fail with refusal"},
		{"nor is it truncated", testspec.Inject{Tool: "x", Error: testspec.InjectTruncated}, "a tool cannot fail with truncated"},
		{"no such fault", testspec.Inject{Role: "planner", Error: "418"}, `unknown error "418"`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if _, err := faultinject.New([]testspec.Inject{tt.in}); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error %v", err)
			}
		})
	}
}
