//go:build unix

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	otlp "go.opentelemetry.io/proto/otlp/trace/v1"

	"github.com/pexctl/pex/dsl/suitespec"
	"github.com/pexctl/pex/dsl/testspec"
	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/goldentest"
	"github.com/pexctl/pex/engine/graph"
	"github.com/pexctl/pex/engine/model"
	"github.com/pexctl/pex/eval/batch"
	"github.com/pexctl/pex/eval/dataset"
	"github.com/pexctl/pex/eval/report"
	"github.com/pexctl/pex/eval/trial"
	"github.com/pexctl/pex/internal/oteltest"
	"github.com/pexctl/pex/providers/otel"
)

const evaluatedSpec = `apiVersion: pex/v1
kind: Agent
metadata: {name: shop}
llms:
  main:
    provider: scripted
    options:
      replies:
        - {when: prompt contains "noon", times: 0, text: '{"steps": [], "result": "We open at 10."}'}
        - {when: prompt contains "Sunday", times: 0, text: '{"steps": [], "result": "We are closed."}'}
memory: {backend: none}
`

const evaluatedSuite = `apiVersion: pex/v1
kind: Suite
metadata: {name: opening hours}
spec: spec.yaml
dataset:
  rows:
    - {id: noon, question: Are you open at noon}
    - {id: sunday, question: And on Sunday}
    - {id: night, question: At night}
checks:
  - {type: contains, value: We open, name: opens}
`

// evalWorld is a folder with a suite. Its evaluations have the id e.
type evalWorld struct{ t *testing.T }

func newEvalWorld(t *testing.T) *evalWorld {
	t.Chdir(t.TempDir())
	t.Setenv("PEX_HOME", t.TempDir())
	w := &evalWorld{t}
	w.write("spec.yaml", evaluatedSpec)
	w.write("suite.yaml", evaluatedSuite)
	return w
}

func (w *evalWorld) write(name, text string) {
	w.t.Helper()
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		w.t.Fatal(err)
	}
}

func (w *evalWorld) run(want int, args ...string) string {
	w.t.Helper()
	var out bytes.Buffer
	if code := run(append([]string{"eval", "suite.yaml", "-q", "-j", "1"}, args...), streams{strings.NewReader(""), &out, &out}); code != want {
		w.t.Fatalf("%v: exit %d: %s", args, code, out.String())
	}
	return out.String()
}

// Each trial is a trace with a link to the span of its evaluation.
func TestTracesOfEvaluations(t *testing.T) {
	for _, conventions := range []string{"released", "latest"} {
		t.Run(conventions, func(t *testing.T) {
			c := oteltest.New(t)
			t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", c.URL)
			if conventions == "latest" {
				t.Setenv("OTEL_SEMCONV_STABILITY_OPT_IN", "gen_ai_latest_experimental")
			}
			t.Run("run", func(t *testing.T) {
				w := newEvalWorld(t)
				w.run(1, "--id", "e", "--max-errors", "1")
				marks, err := filepath.Glob(filepath.Join(os.Getenv("PEX_HOME"), "evals", "e", "telemetry", "*"))
				if err != nil || len(marks) > 0 {
					t.Errorf("marks %v, %v", marks, err)
				}
			})
			spans := c.Spans()
			checkTrialLinks(t, spans, 3)
			goldentest.File(t, "telemetry/evaluation."+conventions+".golden", measured.ReplaceAllString(oteltest.Tree(t, spans), ""))
		})
	}
}

// checkTrialLinks checks that a number of trials link to the evaluation.
func checkTrialLinks(t *testing.T, spans []*otlp.Span, want int) {
	t.Helper()
	var of *otlp.Span
	for _, s := range spans {
		if strings.HasPrefix(s.Name, "invoke_workflow ") {
			of = s
		}
	}
	n := 0
	for _, s := range spans {
		if of != nil && s.Name == "invoke_agent shop" && len(s.Links) == 1 && bytes.Equal(s.Links[0].SpanId, of.SpanId) && bytes.Equal(s.Links[0].TraceId, of.TraceId) && !bytes.Equal(s.TraceId, of.TraceId) {
			n++
		}
	}
	if n != want {
		t.Errorf("%d trials link to %v, want %d", n, of, want)
	}
}

// evaluatedRun is a batch evaluation of two cases, with two model calls and a check each. At the
// time of each, the files are copied: what a kill at that time leaves.
type evaluatedRun struct {
	t      *testing.T
	dir    string
	mu     sync.Mutex
	killed []string // copies of dir
	spans  [][]string
	out    *tracetest.InMemoryExporter
	trial.Tracer
	graded chan struct{} // closed once the first trial is graded
	once   sync.Once
}

// Graded implements trial.Tracer.
func (r *evaluatedRun) Graded(row *trial.Row) {
	r.Tracer.Graded(row)
	r.once.Do(func() { close(r.graded) })
}

// Run implements engine.Node.
func (r *evaluatedRun) Run(s engine.Scope) error {
	for i := range 2 {
		if _, err := s.Model(fmt.Sprint("call", i), model.Call{Role: "planner", LLM: "main", Messages: []model.Message{{Role: model.User, Text: model.Text{s.View().State.Question}}}}); err != nil {
			return err
		}
	}
	s.Record(engine.Answered{Answer: engine.Answer{Text: "yes"}})
	return nil
}

// Generate implements model.Model.
func (r *evaluatedRun) Generate(_ context.Context, req *model.Request, _ func(model.Delta)) (*model.Reply, error) {
	if req.Messages[0].Text.String() == "second" {
		<-r.graded
	}
	r.copy()
	return &model.Reply{Text: "yes", Stop: model.EndTurn, Usage: model.Tokens{Input: 4, Output: 1}}, nil
}

// Check implements trial.Check.
func (r *evaluatedRun) Check(context.Context, *trial.Subject) (trial.Mark, error) {
	r.copy()
	return trial.Mark{Pass: true, Score: 1}, nil
}

func (r *evaluatedRun) copy() {
	r.mu.Lock()
	defer r.mu.Unlock()
	to := filepath.Join(r.t.TempDir(), "e")
	if err := os.CopyFS(to, os.DirFS(r.dir)); err != nil {
		r.t.Error(err)
	}
	r.killed, r.spans = append(r.killed, to), append(r.spans, namesOfSpans(r.out.GetSpans()))
}

// evaluateIn evaluates in a folder, which may have an evaluation that was killed.
func evaluateIn(t *testing.T, dir string, resumed bool) *evaluatedRun {
	t.Helper()
	r := &evaluatedRun{t: t, dir: dir, graded: make(chan struct{}), out: tracetest.NewInMemoryExporter()}
	if resumed {
		close(r.graded)
		r.once.Do(func() {})
	}
	sent, err := otel.Open(t.Context(), otel.Options{Getenv: func(string) string { return "" }, Exporter: r.out})
	if err != nil {
		t.Fatal(err)
	}
	exported := &telemetry{otel: sent}
	exported.open.Do(func() {})
	r.Tracer = exported.evaluate(trial.Evaluation{ID: "e", Suite: "s", Dir: dir, Started: time.Now(), Resumed: resumed})
	p := &engine.Program{
		Name: "p", Digest: "sha256:p", Source: json.RawMessage(`{"name":"p"}`), Nodes: map[string]engine.Node{"a": r},
		Graph:  &graph.Graph[engine.Condition]{Start: "a", Nodes: []graph.Node{{ID: "a", Type: "test"}}},
		Models: []engine.ModelSpec{{Name: "main"}}, Limits: engine.Limits{MaxSteps: 1}, Memory: engine.MemorySettings{Backend: "none"},
	}
	end, err := batch.Run(t.Context(), batch.Plan{
		Dir: dir, Manifest: report.Manifest{V: 1, ID: "e", Suite: "s", Digest: "sha256:s"}, Total: 2, Concurrency: 1, Tracer: r,
		Cases: func() iter.Seq2[dataset.Case, error] {
			return func(yield func(dataset.Case, error) bool) {
				_ = yield(dataset.Case{ID: "first"}, nil) && yield(dataset.Case{ID: "second"}, nil)
			}
		},
		Variants: []batch.Variant{{
			Program: p,
			Host: func(map[string]any) (engine.Host, error) {
				return engine.Host{Models: map[string]model.Model{"main": r}}, nil
			},
			Inputs: func(c dataset.Case) (map[string]any, error) { return map[string]any{"question": c.ID}, nil },
		}},
		Checks:    []batch.Graded{{Spec: testspec.Check{Type: "test", Name: "good", Weight: 1}, Check: r}},
		MaxErrors: suitespec.MaxErrors{Count: -1},
	})
	if err != nil || end.Why != batch.Done {
		t.Fatal(end, err)
	}
	r.Ended(trial.Tally{Verdict: "passed", Trials: end.Trials, Passed: end.Passed})
	return r
}

// namesOfSpans returns the names and ids of spans, but for those of sessions.
func namesOfSpans(spans tracetest.SpanStubs) (out []string) {
	for _, s := range spans {
		if s.Name != "pex.session" {
			out = append(out, s.Name+" "+s.SpanContext.SpanID().String()+" in "+s.Parent.SpanID().String())
		}
	}
	slices.Sort(out)
	return out
}

// An evaluation that is killed and resumed exports the spans of an undisturbed one, none twice.
func TestKilledEvaluationsExportEachSpanOnce(t *testing.T) {
	undisturbed := evaluateIn(t, filepath.Join(t.TempDir(), "e"), false)
	want := namesOfSpans(undisturbed.out.GetSpans())
	if len(undisturbed.killed) != 6 || len(want) < 7 {
		t.Fatalf("%d copies, spans %q", len(undisturbed.killed), want)
	}
	for i, dir := range undisturbed.killed {
		resumed := evaluateIn(t, dir, true)
		got := slices.Concat(undisturbed.spans[i], namesOfSpans(resumed.out.GetSpans()))
		slices.Sort(got)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("killed at %d (-undisturbed +resumed):\n%s", i+1, diff)
		}
		again := evaluateIn(t, dir, true)
		if rest := again.out.GetSpans(); len(rest) > 0 {
			t.Errorf("killed at %d: exported again: %q", i+1, namesOfSpans(rest))
		}
	}
}
