package manager_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/graph"
	"github.com/pexctl/pex/engine/interrupt"
	"github.com/pexctl/pex/engine/model"
	"github.com/pexctl/pex/engine/runs"
	"github.com/pexctl/pex/server/feed"
	"github.com/pexctl/pex/server/manager"
)

// node implements engine.Node with a function.
type node func(engine.Scope) error

func (n node) Run(s engine.Scope) error { return n(s) }

// gatedModel answers once its gate, if any, lets it.
type gatedModel struct{ gate <-chan struct{} }

func (m gatedModel) Generate(ctx context.Context, _ *model.Request, _ func(model.Delta)) (*model.Reply, error) {
	if m.gate != nil {
		select {
		case <-m.gate:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	return &model.Reply{Text: "hello"}, nil
}

// world is a home and an agent.
type world struct {
	t     testing.TB
	dir   string
	node  node
	model model.Model

	change func(*engine.Program) // what differs in its program; nil = nothing
}

func newWorld(t *testing.T, n node) *world {
	return &world{t: t, dir: t.TempDir(), node: n, model: gatedModel{}}
}

func (w *world) program() *engine.Program {
	p := &engine.Program{
		Name: "agent", Digest: "sha256:1", Source: json.RawMessage(`1`),
		Parameters: []engine.Parameter{{Name: "question"}},
		Models:     []engine.ModelSpec{{Name: "main"}},
		Graph:      &graph.Graph[engine.Condition]{Start: "a", Nodes: []graph.Node{{ID: "a", Type: "test"}}},
		Nodes:      map[string]engine.Node{"a": w.node},
		Memory:     engine.MemorySettings{Backend: "none"},
	}
	if w.change != nil {
		w.change(p)
	}
	return p
}

// compile returns the program of a run with limits.max_cost of its source, or of an override.
func (w *world) compile(start engine.Start, set ...string) (*engine.Program, error) {
	p := w.program()
	var source struct {
		MaxCost float64 `json:"max_cost"`
	}
	if json.Unmarshal(start.Program, &source) == nil {
		p.Limits.MaxCost = source.MaxCost
	}
	for _, s := range set {
		if _, err := fmt.Sscanf(s, "limits.max_cost=%f", &p.Limits.MaxCost); err != nil {
			return nil, err
		}
	}
	return p, nil
}

func (w *world) host() engine.Host {
	return engine.Host{Models: map[string]model.Model{"main": w.model}}
}

func (w *world) service() *runs.Service {
	w.t.Helper()
	s, err := runs.Open(w.dir, runs.Env{
		Compile: w.compile,
		Connect: func(*engine.Program, engine.Input) (engine.Host, error) { return w.host(), nil },
		Version: "test",
	})
	if err != nil {
		w.t.Fatal(err)
	}
	return s
}

// open returns a manager of the home, as the server has it after a start.
func (w *world) open(o manager.Options) *manager.Manager {
	w.t.Helper()
	o.Runs = w.service()
	if o.Slots == nil {
		o.Slots = manager.NewSlots(manager.Limits{Running: 1000, RunningPerTenant: 1000, Waiting: 1000})
	}
	if o.ParkAfter == 0 {
		o.ParkAfter = time.Minute
	}
	m := manager.New(o)
	w.t.Cleanup(func() { w.close(m) })
	return m
}

func (w *world) close(m *manager.Manager) {
	if err := m.Close(context.Background()); err != nil {
		w.t.Error(err)
	}
}

var ann, bea = engine.Actor{User: "ann", Issuer: "tokens"}, engine.Actor{User: "bea", Issuer: "tokens"}

func (w *world) request(id string) runs.NewRun {
	return runs.NewRun{Program: w.program(), Host: w.host(), Input: engine.Input{
		RunID: id, Request: "request of " + id, By: &ann, Parameters: map[string]any{"question": "why?"}, Origin: &engine.Origin{},
	}}
}

func (w *world) start(m *manager.Manager, id string) {
	w.t.Helper()
	if existed, err := m.Start(w.t.Context(), w.request(id), ""); existed || err != nil {
		w.t.Fatal(existed, err)
	}
}

// watch returns the events of a run until its session ends.
func (w *world) watch(m *manager.Manager, id string, after feed.Cursor) (events []string, end string) {
	w.t.Helper()
	items, err := m.Watch(w.t.Context(), id, after, false)
	if err != nil {
		w.t.Fatal(err)
	}
	for item := range items {
		if item.Type == feed.End {
			return events, string(item.Data)
		}
		events = append(events, string(item.Data))
	}
	w.t.Fatal("the feed has no end")
	return nil, ""
}

// awaitQuestions waits until n questions of all runs are open.
func (w *world) awaitQuestions(m *manager.Manager, n int) (open []manager.OpenQuestion) {
	w.t.Helper()
	for len(open) < n && w.t.Context().Err() == nil {
		var err error
		if open, err = m.Questions(w.t.Context()); err != nil {
			w.t.Fatal(err)
		}
		time.Sleep(time.Millisecond)
	}
	return open
}

func (w *world) result(m *manager.Manager, id string) *engine.Result {
	w.t.Helper()
	m.Await(w.t.Context(), id)
	r, err := w.service().Read(id)
	if err != nil {
		w.t.Fatal(err)
	}
	return r.Show(w.t.Context())
}

// greets answers with a reply of the model.
func greets(s engine.Scope) error {
	reply, err := s.Model("greet", model.Call{LLM: "main", Role: "planner", Messages: []model.Message{{Role: model.User, Text: model.Text{"hi"}}}})
	if err == nil {
		s.Record(engine.Answered{Answer: engine.Answer{Text: reply.Text}})
	}
	return err
}

// approvals asks for two approvals at once and answers with both.
func approvals(s engine.Scope) error {
	said := make([]string, 2)
	err := s.Parallel(2, func(i int) string { return fmt.Sprint("step.", i) }, func(i int, s engine.Scope) error {
		d, err := s.Ask("approval", interrupt.Question{Kind: interrupt.Approval, Question: fmt.Sprint("May step ", i, " run?")})
		said[i] = d.Do
		return err
	})
	if err == nil {
		s.Record(engine.Answered{Answer: engine.Answer{Text: strings.Join(said, ",")}})
	}
	return err
}
