package batch_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/pexctl/pex/dsl/suitespec"
	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/graph"
	"github.com/pexctl/pex/engine/interrupt"
	"github.com/pexctl/pex/engine/model"
	"github.com/pexctl/pex/engine/stop"
	"github.com/pexctl/pex/engine/tool"
	"github.com/pexctl/pex/eval/batch"
	"github.com/pexctl/pex/eval/dataset"
	"github.com/pexctl/pex/eval/trial"
)

// failingModel returns a model whose calls fail with an error of this kind.
func failingModel(kind model.ErrorKind) *oracle {
	return &oracle{reply: func(context.Context, string, int) (*model.Reply, error) {
		return nil, &model.Error{Kind: kind, Message: "as the test says"}
	}}
}

func TestFaultKinds(t *testing.T) {
	fails := func(err error) *engine.Program { return program(func(engine.Scope) error { return err }) }
	asks := program(func(s engine.Scope) error {
		_, err := s.Ask("q", interrupt.Question{Kind: interrupt.Human, Question: "May I?"})
		return err
	})
	for _, row := range []struct {
		name    string
		program *engine.Program
		model   *oracle
		outcome trial.Outcome
		kind    trial.ErrorKind
		message string
	}{
		{"provider", twice, failingModel(model.ServerError), trial.Errored, trial.ProviderFault, "server_error: as the test says"},
		{"internal", fails(errors.New("a promise was broken")), &oracle{}, trial.Errored, trial.InternalFault, "a promise was broken"},
		{"full disk of a memory", fails(stop.Fail(stop.StoreFull, "memory", "disk full")), &oracle{}, trial.Errored, trial.StorageFault, "disk full"},
		{"a question", asks, &oracle{}, trial.Errored, trial.InternalFault, "waits for an answer at q"},
		{"a limit of its own", fails(stop.AtLimit(stop.MaxSteps, "limits.max_steps", "too many")), &oracle{}, trial.Failed, "", ""},
		{"an agent that fails", fails(stop.Fail(stop.PlannerInvalid, "", "no plan")), &oracle{}, trial.Failed, "", ""},
	} {
		t.Run(row.name, func(t *testing.T) {
			dir := t.TempDir()
			p := planOf(dir, 1, row.model, capitals)
			p.Variants = []batch.Variant{variant("", row.program, row.model)}
			run(t, p)
			got := rows(t, dir)[first("c0")]
			if got.Outcome != row.outcome || (got.Fault == nil) != (row.kind == "") {
				t.Fatalf("%+v %+v", got, got.Fault)
			}
			if f := got.Fault; f != nil && (f.Kind != row.kind || !strings.Contains(f.Message, row.message)) {
				t.Fatalf("%+v", f)
			}
		})
	}
}

func TestVariantThatCannotStartIsInternalFault(t *testing.T) {
	for name, change := range map[string]func(*batch.Variant){
		"inputs": func(v *batch.Variant) {
			v.Inputs = func(dataset.Case) (map[string]any, error) { return nil, errors.New("no such column") }
		},
		"host": func(v *batch.Variant) {
			v.Host = func(map[string]any) (engine.Host, error) { return engine.Host{}, errors.New("no such column") }
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			p := planOf(dir, 1, &oracle{})
			change(&p.Variants[0])
			run(t, p)
			if f := rows(t, dir)[first("c0")].Fault; f == nil || f.Kind != trial.InternalFault || f.Message != "no such column" {
				t.Fatalf("%+v", f)
			}
		})
	}
}

func TestSlowTrialIsCancelled(t *testing.T) {
	dir := t.TempDir()
	m := &oracle{reply: func(ctx context.Context, q string, _ int) (*model.Reply, error) {
		if q == "q1" {
			<-ctx.Done()
			return nil, ctx.Err()
		}
		return nil, nil
	}}
	p := planOf(dir, 3, m, capitals)
	p.Limits.TrialTimeout = int64(2 * time.Second)
	end := run(t, p)
	if end.Passed != 2 || end.Error != 1 {
		t.Fatalf("%+v", end)
	}
	row := rows(t, dir)[first("c1")]
	if row.Fault.Kind != trial.TimeoutFault || !strings.Contains(row.Fault.Message, "limits.trial_timeout, 2s") || row.Run.Status != stop.RunCancelled {
		t.Fatalf("%+v", row)
	}
	m.replies(nil)
	if stop := run(t, p); stop.Passed != 3 || rows(t, dir)[first("c1")].Run.ID != "e-1~c1~~1.2" {
		t.Fatalf("%+v", stop)
	}
}

func TestUnavailableProviderStopsEvaluation(t *testing.T) {
	for _, row := range []struct {
		name   string
		kind   model.ErrorKind
		well   int // calls that succeed first
		most   int // trials that may end in an error
		broken bool
	}{
		{"wrong key", model.AuthError, 0, 7, true},
		{"no network", model.NetworkError, 0, 7, true},
		{"unknown model", model.NotFound, 0, 7, true},
		{"no such parameter", model.BadRequest, 0, 7, true},
		{"overloaded from the beginning", model.Overloaded, 0, 7, true},
		{"network lost later", model.NetworkError, 40, 7, true},
		{"requests that are wrong later", model.BadRequest, 40, 80, false},
		{"overloaded later", model.Overloaded, 40, 80, false},
	} {
		t.Run(row.name, func(t *testing.T) {
			dir := t.TempDir()
			var n atomic.Int64
			m := &oracle{reply: func(context.Context, string, int) (*model.Reply, error) {
				if n.Add(1) <= int64(row.well) {
					return nil, nil
				}
				return nil, &model.Error{Kind: row.kind, Message: "as the test says"}
			}}
			p := planOf(dir, 80, m, capitals)
			stop := run(t, p)
			if (stop.Why == batch.Broken) != row.broken || stop.Error > row.most {
				t.Fatalf("%+v", stop)
			}
			if row.broken && !strings.Contains(stop.Message, "the provider does not reply: ") {
				t.Fatal(stop.Message)
			}
			m.replies(nil)
			if stop := run(t, p); stop.Why != batch.Done || stop.Passed != 80 {
				t.Fatalf("afterwards: %+v", stop)
			}
		})
	}
}

func TestTooManyErrorsStopEvaluation(t *testing.T) {
	for _, row := range []struct {
		name  string
		limit suitespec.MaxErrors
		total bool
		every int // n-th trial is an error
		stops bool
		at    string
	}{
		{"none is allowed", suitespec.MaxErrors{Count: 0}, true, 7, true, "max_errors allows 0"},
		{"so many", suitespec.MaxErrors{Count: 2}, true, 10, true, "3 trials ended in an error; max_errors allows 2"},
		{"no more than so many", suitespec.MaxErrors{Count: 10}, true, 10, false, ""},
		{"a share of all", suitespec.MaxErrors{Count: -1, Share: 0.05}, true, 10, true, "6 of 100 trials ended in an error; max_errors allows 5%"},
		{"no more than a share", suitespec.MaxErrors{Count: -1, Share: 0.1}, true, 10, false, ""},
		{"a share of those so far", suitespec.MaxErrors{Count: -1, Share: 0.05}, false, 10, true, " trials so far ended in an error"},
		{"not set", suitespec.MaxErrors{Count: -1}, true, 2, false, ""},
	} {
		t.Run(row.name, func(t *testing.T) {
			m := &oracle{reply: func(_ context.Context, q string, _ int) (*model.Reply, error) {
				var i int
				if _, err := fmt.Sscanf(q, "q%d", &i); err == nil && i%row.every == row.every-1 {
					return nil, &model.Error{Kind: model.Truncated, Message: "cut"}
				}
				return nil, nil
			}}
			p := planOf(t.TempDir(), 100, m, capitals)
			p.MaxErrors, p.Concurrency = row.limit, 1
			if !row.total {
				p.Total = 0
			}
			stop := run(t, p)
			if (stop.Why == batch.Broken) != row.stops || !strings.Contains(stop.Message, row.at) {
				t.Fatalf("%+v", stop)
			}
		})
	}
}

func TestBudgetIsExceededOnlyByTrialsInFlight(t *testing.T) {
	for _, row := range []struct {
		name   string
		limits suitespec.Limits
		why    batch.Why
	}{
		{"cost", suitespec.Limits{MaxCost: 0.305}, batch.Budget}, // a trial takes 0.01 and 10 tokens
		{"tokens", suitespec.Limits{MaxTokens: 305}, batch.Budget},
		{"enough", suitespec.Limits{MaxCost: 1.01, MaxTokens: 1001}, batch.Done},
	} {
		t.Run(row.name, func(t *testing.T) {
			dir := t.TempDir()
			p := planOf(dir, 100, &oracle{}, capitals)
			p.Limits = row.limits
			stop := run(t, p)
			if stop.Why != row.why || row.why == batch.Budget && stop.Trials != 30 {
				t.Fatalf("%+v", stop)
			}
			if row.why == batch.Done {
				return
			}
			if !strings.Contains(stop.Message, "limits.max_"+row.name) {
				t.Fatal(stop.Message)
			}
			if again := run(t, p); again.Why != batch.Budget || again.Trials != 30 { // earlier spending counts
				t.Fatalf("%+v", again)
			}
			p.Limits = suitespec.Limits{}
			if stop := run(t, p); stop.Why != batch.Done || stop.Passed != 100 {
				t.Fatalf("%+v", stop)
			}
		})
	}
}

func TestMaxDurationStopsEvaluation(t *testing.T) {
	m := &oracle{reply: func(ctx context.Context, q string, _ int) (*model.Reply, error) {
		if q == "q0" {
			return nil, nil
		}
		<-ctx.Done()
		return nil, ctx.Err()
	}}
	p := planOf(t.TempDir(), 10, m, capitals)
	p.Limits.MaxDuration = int64(2 * time.Second)
	stop := run(t, p)
	if stop.Why != batch.Budget || stop.Passed != 1 || stop.Error != 0 || !strings.Contains(stop.Message, "limits.max_duration: 2s have passed") {
		t.Fatalf("%+v", stop)
	}
}

func TestFailedGraderRunsAgainWithoutAgent(t *testing.T) {
	dir, m := t.TempDir(), &oracle{}
	var down, asked atomic.Int64
	down.Store(1)
	judge := graded("judge", 1, func(*trial.Subject) (trial.Mark, error) {
		asked.Add(1)
		if down.Load() == 1 {
			return trial.Mark{}, errors.New("the judge is unavailable")
		}
		return trial.Mark{Pass: true, Score: 1, Cost: 0.5, Tokens: 7}, nil
	})
	watched := graded("watched", 0, func(*trial.Subject) (trial.Mark, error) { panic("a defect") })
	var first1 atomic.Int64
	once := graded("once", 1, func(s *trial.Subject) (trial.Mark, error) {
		first1.Add(1)
		return mark(s.Result.Response == "Q0" || s.Result.Response == "Q1"), nil
	})
	p := planOf(dir, 2, m, judge, watched, once)
	stop := run(t, p)
	if row := rows(t, dir)[first("c0")]; stop.Error != 2 || row.Fault.Kind != trial.GraderFault || row.Fault.Message != "judge: the judge is unavailable" ||
		!strings.Contains(row.Marks[1].Error, "panicked: a defect") {
		t.Fatalf("%+v %+v", stop, row)
	}
	down.Store(0)
	stop = run(t, p)
	if stop.Passed != 2 || m.total() != 4 || asked.Load() != 4 || first1.Load() != 2 || stop.Tokens != 2*10+2*7 {
		t.Fatalf("%+v, %d calls, asked %d, %d", stop, m.total(), asked.Load(), first1.Load())
	}
	if stop = run(t, p); stop.Passed != 2 || asked.Load() != 4 || stop.Tokens != 34 {
		t.Fatalf("%+v", stop)
	}
}

// Resuming does not repeat a write with an unknown outcome.
func TestUnknownOutcomeIsNotRepeated(t *testing.T) {
	writes := 0
	one := tool.Binding{Spec: &tool.Spec{Name: "pay"}, Tool: pay{&writes}}
	p := program(func(s engine.Scope) error {
		rec, _, err := s.Tool("pay", engine.Invocation{Tool: "pay", Args: []byte(`{}`), StepID: "s1"})
		if err == nil {
			s.Record(engine.Answered{Answer: engine.Answer{Text: fmt.Sprint(rec.Result)}})
		}
		return err
	})
	p.Tools = []tool.Spec{{Name: "pay"}}
	p.Graph = &graph.Graph[engine.Condition]{Start: "a", Nodes: []graph.Node{{ID: "a", Type: "test"}}}
	dir := t.TempDir()
	b := planOf(dir, 1, &oracle{})
	b.Variants = []batch.Variant{variant("", p, &oracle{}, one)}
	run(t, b)
	if got := rows(t, dir)[first("c0")]; got.Outcome != trial.Passed || writes != 1 {
		t.Fatalf("%+v %d", got, writes)
	}
	cutLines(t, dir, "trials.jsonl", 2) // start, intent
	cutLines(t, dir, "rows.jsonl", 0)
	stop := run(t, b)
	row := rows(t, dir)[first("c0")]
	if stop.Error != 1 || writes != 1 || row.Fault.Kind != trial.InternalFault || !strings.Contains(row.Fault.Message, "the outcome of") {
		t.Fatalf("%+v %+v, %d writes", row, row.Fault, writes)
	}
	if stop = run(t, b); stop.Error != 1 || writes != 1 {
		t.Fatalf("%+v, %d writes", stop, writes)
	}
}

type pay struct{ n *int }

func (pay) Info() tool.Info {
	return tool.Info{Name: "pay", Effect: tool.WriteEffect, Input: []byte(`{"type":"object"}`)}
}

func (p pay) Call(context.Context, *tool.Call) (*tool.Output, error) {
	*p.n++
	return &tool.Output{Text: "paid"}, nil
}
