package serve_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/component"
	"github.com/pexctl/pex/engine/interrupt"
	"github.com/pexctl/pex/engine/stop"
	"github.com/pexctl/pex/engine/tool"
	"github.com/pexctl/pex/engine/tracecontext"
	"github.com/pexctl/pex/providers/mcp/serve"
)

// userKey is the key of the user of a request in its context.
type userKey struct{}

// world is a fake of what serves the runs: each question of a run is answered before the run
// completes.
type world struct {
	t      *testing.T
	agents map[string]*engine.Program

	mu            sync.Mutex
	runs          map[string]*engine.Result
	asks          map[string][]interrupt.Question // by agent
	answers       []string
	slow          bool // runs do not end
	isViewer      bool // the client may not answer
	closeQuestion func()
	users         []any
	callers       []tracecontext.Caller // of the runs started
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{t: t, runs: map[string]*engine.Result{}, asks: map[string][]interrupt.Question{}}
	w.agents = map[string]*engine.Program{
		"hello": {
			Name: "hello", Description: "Answers a sum.", Tools: []tool.Spec{{Name: "calculator", Effect: tool.ReadEffect}},
			Parameters: []engine.Parameter{{Name: "question", Doc: "The sum.", Required: true, Schema: json.RawMessage(`{"type": "string"}`)}},
		},
		"refund": {Name: "refund", Tools: []tool.Spec{{Name: "pay", Effect: tool.WriteEffect}}},
		"typed":  {Name: "typed", Output: &engine.Output{}, Tools: []tool.Spec{{Name: "put", Effect: tool.IdempotentEffect}}},
		"nested": {Name: "nested", Agents: []*engine.Program{{Tools: []tool.Spec{{Name: "a server"}}}}},
	}
	w.agents["typed"].Output.Schema = component.SchemaRef{JSON: json.RawMessage(`{"type": "object", "properties": {"sum": {"type": "number"}}}`)}
	w.asks["refund"] = []interrupt.Question{
		{Path: "s1/tool.0.approval", Kind: interrupt.Approval, Tool: "pay", Args: json.RawMessage(`{"amount": 80}`)},
		{Path: "s2/tool.0", Kind: interrupt.Human, Question: "Which account?"},
	}
	return w
}

func (w *world) server(wait time.Duration) *serve.Server {
	return serve.New(serve.Options{Agents: w, Runs: w, Version: "1.0", Wait: wait, User: func(ctx context.Context) string {
		user, _ := ctx.Value(userKey{}).(string)
		return user
	}})
}

// Agents implements serve.Agents.
func (w *world) Agents(ctx context.Context) (map[string]*engine.Program, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.users = append(w.users, ctx.Value(userKey{}))
	return w.agents, nil
}

// Agent implements serve.Agents.
func (w *world) Agent(ctx context.Context, name string) (*engine.Program, error) {
	agents, _ := w.Agents(ctx)
	if agents[name] == nil {
		return nil, fmt.Errorf("no agent %q", name)
	}
	return agents[name], nil
}

// Start implements serve.Agents.
func (w *world) Start(ctx context.Context, agent string, parameters json.RawMessage, most time.Duration, report func(string)) (*engine.Result, error) {
	if string(parameters) == `{"question":7}` {
		return nil, errors.New("question: expected string, but got number")
	}
	w.mu.Lock()
	w.callers = append(w.callers, tracecontext.From(ctx))
	run := fmt.Sprintf("r-%d", len(w.runs)+1)
	w.runs[run] = &engine.Result{RunID: run, Status: "running", Interrupts: w.asks[agent]}
	if agent == "typed" && len(w.asks[agent]) == 0 {
		w.runs[run].Output = json.RawMessage(`{"sum":4}`)
	}
	w.mu.Unlock()
	if report != nil {
		report("Run " + run + " has started")
	}
	return w.Wait(ctx, run, most, report)
}

// Wait implements serve.Runs.
func (w *world) Wait(_ context.Context, run string, most time.Duration, report func(string)) (*engine.Result, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	res := w.runs[run]
	if res == nil {
		return nil, fmt.Errorf("no run %q", run)
	}
	if res.Status == "running" && len(res.Interrupts) == 0 && !w.slow && most > 0 {
		res.Status, res.Response = stop.RunCompleted, "4"
		if report != nil {
			report("s1 ok")
		}
	}
	shown := *res
	return &shown, nil
}

// Answer implements serve.Runs.
func (w *world) Answer(_ context.Context, run string, q interrupt.Question, answer string) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	res := w.runs[run]
	if res == nil {
		return fmt.Errorf("no run %q", run)
	}
	for i, open := range res.Interrupts {
		if q.Path == "" || open.Path == q.Path {
			res.Interrupts = append(append([]interrupt.Question{}, res.Interrupts[:i]...), res.Interrupts[i+1:]...)
			w.answers = append(w.answers, open.Path+"="+answer)
			return nil
		}
	}
	return fmt.Errorf("%s is not an open question", q.Path)
}

// CanAnswer implements serve.Runs.
func (w *world) CanAnswer(context.Context, string) bool { return !w.isViewer }

// Asking implements serve.Runs.
func (w *world) Asking(ctx context.Context, _, _ string) (context.Context, func(), error) {
	open, cancel := context.WithCancel(ctx)
	w.mu.Lock()
	defer w.mu.Unlock()
	w.closeQuestion = cancel
	return open, cancel, nil
}

// Cancel implements serve.Runs.
func (w *world) Cancel(_ context.Context, run string) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.runs[run] == nil {
		return fmt.Errorf("no run %q", run)
	}
	w.runs[run].Status, w.runs[run].Interrupts = stop.RunCancelled, nil
	return nil
}
