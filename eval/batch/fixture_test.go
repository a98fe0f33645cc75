package batch_test

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"strings"
	"sync"
	"testing"

	"github.com/pexctl/pex/dsl/suitespec"
	"github.com/pexctl/pex/dsl/testspec"
	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/graph"
	"github.com/pexctl/pex/engine/model"
	"github.com/pexctl/pex/engine/tool"
	"github.com/pexctl/pex/eval/batch"
	"github.com/pexctl/pex/eval/dataset"
	"github.com/pexctl/pex/eval/report"
	"github.com/pexctl/pex/eval/trial"
)

// nodeFunc is a node implemented by a function.
type nodeFunc func(engine.Scope) error

func (f nodeFunc) Run(s engine.Scope) error { return f(s) }

// program returns a graph with one node.
func program(run nodeFunc) *engine.Program {
	return &engine.Program{
		Name: "p", Digest: "sha256:p", Source: json.RawMessage(`{"name":"p"}`), Nodes: map[string]engine.Node{"a": run},
		Graph: &graph.Graph[engine.Condition]{Start: "a", Nodes: []graph.Node{{ID: "a", Type: "test"}}},
		Models: []engine.ModelSpec{
			{Name: "main", Cost: &model.Cost{Input: 1000, Output: 1000}}, // 0.001 USD per token
		},
		Limits: engine.Limits{MaxSteps: 20, MaxReplans: 10}, Memory: engine.MemorySettings{Backend: "none"},
	}
}

// twice calls the model two times; the second reply is the answer.
var twice = program(func(s engine.Scope) error {
	text := ""
	for i := range 2 {
		reply, err := s.Model(fmt.Sprint("call", i), model.Call{Role: "planner", LLM: "main", Messages: []model.Message{
			{Role: model.User, Text: model.Text{s.View().State.Question}},
		}})
		if err != nil {
			return err
		}
		text = reply.Text
	}
	s.Record(engine.Answered{Answer: engine.Answer{Text: text}})
	return nil
})

// oracle is a model that replies with the question in capitals and counts calls.
type oracle struct {
	mu    sync.Mutex
	calls map[string]int // by question
	keys  map[string]int // by idempotency key
	// reply is called first; if it returns nothing, the reply is the question in capitals.
	reply func(ctx context.Context, question string, nth int) (*model.Reply, error)
}

func (o *oracle) Generate(ctx context.Context, req *model.Request, _ func(model.Delta)) (*model.Reply, error) {
	question := req.Messages[0].Text.String()
	o.mu.Lock()
	if o.calls == nil {
		o.calls, o.keys = map[string]int{}, map[string]int{}
	}
	o.calls[question]++
	o.keys[req.Key]++
	nth, own := o.calls[question], o.reply
	o.mu.Unlock()
	if own != nil {
		if r, err := own(ctx, question, nth); r != nil || err != nil {
			return r, err
		}
	}
	return &model.Reply{Text: strings.ToUpper(question), Stop: model.EndTurn, Usage: model.Tokens{Input: 4, Output: 1}}, nil
}

// replies sets reply, also while calls are in flight.
func (o *oracle) replies(f func(ctx context.Context, question string, nth int) (*model.Reply, error)) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.reply = f
}

// asked returns how often a question was asked.
func (o *oracle) asked(question string) int {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.calls[question]
}

func (o *oracle) total() (n int) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, c := range o.calls {
		n += c
	}
	return n
}

// cases returns the cases c0 to c(n-1); case ci asks qi.
func cases(n int) dataset.Cases {
	return func() iter.Seq2[dataset.Case, error] {
		return func(yield func(dataset.Case, error) bool) {
			for i := range n {
				c := dataset.Case{ID: fmt.Sprint("c", i), Line: i + 1, Group: fmt.Sprint("g", i%2), Row: map[string]any{"q": fmt.Sprint("q", i)}}
				if !yield(c, nil) {
					return
				}
			}
		}
	}
}

func variant(name string, p *engine.Program, m model.Model, tools ...tool.Binding) batch.Variant {
	host := engine.Host{Models: map[string]model.Model{"main": m}, Tools: tools}
	return batch.Variant{
		Name: name, Program: p,
		Host:   func(map[string]any) (engine.Host, error) { return host, nil },
		Inputs: func(c dataset.Case) (map[string]any, error) { return map[string]any{"question": c.Row["q"]}, nil },
	}
}

// planOf returns a plan of n cases for a model, graded by checks.
func planOf(dir string, n int, m model.Model, checks ...batch.Graded) batch.Plan {
	return batch.Plan{
		Dir: dir, Manifest: report.Manifest{V: 1, ID: "e-1", Suite: "s", Digest: "sha256:s"},
		Cases: cases(n), Total: n, Variants: []batch.Variant{variant("", twice, m)}, Checks: checks, Concurrency: 4,
		MaxErrors: suitespec.MaxErrors{Count: -1},
	}
}

// checkFunc is a check implemented by a function.
type checkFunc func(s *trial.Subject) (trial.Mark, error)

func (f checkFunc) Check(_ context.Context, s *trial.Subject) (trial.Mark, error) { return f(s) }

func graded(name string, weight float64, f checkFunc) batch.Graded {
	return batch.Graded{Spec: testspec.Check{Type: "test", Name: name, Weight: weight, Position: testspec.Position{Line: 7}}, Check: f}
}

// capitals passes if the answer is the question in capitals.
var capitals = graded("capitals", 1, func(s *trial.Subject) (trial.Mark, error) {
	want := strings.ToUpper(s.Case["q"].(string))
	return mark(s.Result.Response == want), nil
})

func mark(pass bool) trial.Mark {
	if pass {
		return trial.Mark{Pass: true, Score: 1}
	}
	return trial.Mark{Message: "no"}
}

func run(t testing.TB, p batch.Plan) batch.Stop {
	t.Helper()
	stop, err := batch.Run(t.Context(), p)
	if err != nil {
		t.Fatal(err)
	}
	return stop
}

// rows returns the current rows of an evaluation, by key.
func rows(t testing.TB, dir string) map[trial.Key]*trial.Row {
	t.Helper()
	all, err := batch.OpenRows(dir)
	if err != nil {
		t.Fatal(err)
	}
	out := map[trial.Key]*trial.Row{}
	for row, err := range all() {
		if err != nil {
			t.Fatal(err)
		}
		if out[row.Key] != nil {
			t.Fatalf("two rows of %v", row.Key)
		}
		out[row.Key] = row
	}
	return out
}

// timeless removes the fields of rows that differ between sessions.
func timeless(all map[trial.Key]*trial.Row) map[trial.Key]*trial.Row {
	for _, row := range all {
		row.At, row.Run.LatencyMS = row.At.Truncate(1<<62), 0
		row.At = row.At.AddDate(-row.At.Year()+1, 0, 0)
	}
	return all
}

func first(c string) trial.Key { return trial.Key{Case: c, Repeat: 1} }

// outcomes counts rows by outcome.
func outcomes(t testing.TB, dir string) map[trial.Outcome]int {
	n := map[trial.Outcome]int{}
	for _, row := range rows(t, dir) {
		n[row.Outcome]++
	}
	return n
}
