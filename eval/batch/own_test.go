package batch_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/pexctl/pex/dsl/suitespec"
	"github.com/pexctl/pex/engine/journal"
	"github.com/pexctl/pex/engine/model"
	"github.com/pexctl/pex/eval/batch"
	"github.com/pexctl/pex/eval/dataset"
	"github.com/pexctl/pex/eval/trial"
)

func TestTrialsDoNotShareRuns(t *testing.T) {
	x := strings.Repeat("x", 51)
	for _, ids := range [][]string{
		{"倯丕一漢字", "壳乂一漢字"}, // their hashes have a common prefix
		{x + "-tail-of-one", x + "-tail-of-the-other"},
		{"a b", "a-c8687a08aa5d6ed2044328fa"}, // the second is the slug of the first
	} {
		t.Run(ids[0], func(t *testing.T) {
			dir := t.TempDir()
			p := planOf(dir, len(ids), &oracle{}, capitals)
			p.Cases, p.Concurrency = renamed(p.Cases, ids), 1
			run(t, p)
			got := rows(t, dir)
			if a, b := got[first(ids[0])], got[first(ids[1])]; a.Run.Response != "Q0" || b.Run.Response != "Q1" || a.Run.ID == b.Run.ID {
				t.Fatalf("%s: %s\n%s: %s", a.Run.ID, a.Run.Response, b.Run.ID, b.Run.Response)
			}
		})
	}
}

func TestRunWithOtherParametersStartsOver(t *testing.T) {
	dir, m := t.TempDir(), &oracle{}
	run(t, planOf(dir, 2, m, capitals))
	cutLines(t, dir, "rows.jsonl", 1) // the second trial has only its journal
	p := planOf(dir, 2, m, capitals)
	p.Variants[0].Inputs = func(dataset.Case) (map[string]any, error) {
		return map[string]any{"question": "another", "limit": 1.5}, nil
	}
	run(t, p)
	n := 0
	for _, row := range rows(t, dir) {
		if row.Run.Response == "ANOTHER" && strings.HasSuffix(row.Run.ID, "~1.2") {
			n++
		}
	}
	if n != 1 || m.asked("another") != 2 {
		t.Fatalf("%d, asked %d times", n, m.asked("another"))
	}
	cutLines(t, dir, "rows.jsonl", 1)
	run(t, p) // this one resumes
	if m.asked("another") != 2 {
		t.Fatalf("asked %d times", m.asked("another"))
	}
}

// refuses returns a model that fails for some questions.
func refuses(kind model.ErrorKind, questions ...string) *oracle {
	return &oracle{reply: func(_ context.Context, q string, _ int) (*model.Reply, error) {
		if slices.Contains(questions, q) {
			return nil, &model.Error{Kind: kind, Status: 400, Message: "as the test says"}
		}
		return nil, nil
	}}
}

func TestFailuresOfCasesDoNotStopLaterSession(t *testing.T) {
	for _, kind := range []model.ErrorKind{model.BadRequest, model.ContextTooLong, model.BadReply} {
		t.Run(string(kind), func(t *testing.T) {
			m := refuses(kind, "q3", "q7", "q11", "q15", "q19") // so far apart that the first three to end are never all refused
			p := planOf(t.TempDir(), 20, m, capitals)
			for range 3 {
				if stop := run(t, p); stop.Why != batch.Done || stop.Passed != 15 || stop.Error != 5 {
					t.Fatalf("%+v", stop)
				}
			}
		})
	}
}

func TestUnavailableProviderStopsLaterSession(t *testing.T) {
	for _, kind := range []model.ErrorKind{model.AuthError, model.NotFound, model.NetworkError, model.Overloaded} {
		t.Run(string(kind), func(t *testing.T) {
			m := &oracle{}
			p := planOf(t.TempDir(), 80, m, capitals)
			p.Limits.MaxTokens = 200
			if stop := run(t, p); stop.Why != batch.Budget || stop.Passed != 20 {
				t.Fatalf("%+v", stop)
			}
			p.Limits.MaxTokens = 0
			m.replies(failingModel(kind).reply)
			began := time.Now()
			if stop := run(t, p); stop.Why != batch.Broken || stop.Error > 7 || time.Since(began) > 20*time.Second {
				t.Fatalf("%+v after %s", stop, time.Since(began))
			}
		})
	}
}

func TestBudgetIsExceededByAtMostOneTrial(t *testing.T) {
	const dearest = 50
	for seed := range uint64(60) {
		r := rand.New(rand.NewPCG(seed, 1))
		costs := make([]int, 60)
		for i := range costs {
			costs[i] = 10 + r.IntN(dearest-10+1)
		}
		m := &oracle{reply: func(_ context.Context, q string, _ int) (*model.Reply, error) {
			var i int
			_, _ = fmt.Sscanf(q, "q%d", &i)
			return &model.Reply{Text: q, Usage: model.Tokens{Input: costs[i] / 2, Output: costs[i]/2 + costs[i]%2}}, nil
		}}
		dir, limit := t.TempDir(), 40+r.IntN(1500) // in tokens; a trial makes two calls
		p := planOf(dir, len(costs), m)
		p.Concurrency = 1 + r.IntN(16)
		p.Limits = suitespec.Limits{MaxCost: float64(limit) / 1000} // 0.001 USD per token
		for range 3 {
			stop := run(t, p)
			if stop.Tokens > limit+2*dearest {
				t.Fatalf("seed %d, %d at once: %d tokens of %d", seed, p.Concurrency, stop.Tokens, limit)
			}
			if stop.Why == batch.Budget && stop.Tokens < limit-4*dearest && stop.Trials > 1 {
				t.Fatalf("seed %d: stopped at %d of %d", seed, stop.Tokens, limit)
			}
		}
	}
}

// The first trial runs alone to measure its cost; then many run concurrently.
func TestFirstTrialOfBudgetRunsAlone(t *testing.T) {
	var inFlight, most atomic.Int64
	var once sync.Once
	together := make(chan struct{})
	m := &oracle{reply: func(_ context.Context, q string, nth int) (*model.Reply, error) {
		n := inFlight.Add(1)
		defer inFlight.Add(-1)
		if q == "q0" {
			most.Store(max(most.Load(), n))
			return nil, nil
		}
		if n == 4 {
			once.Do(func() { close(together) })
		}
		<-together // hangs if they do not run concurrently
		return nil, nil
	}}
	p := planOf(t.TempDir(), 40, m, capitals)
	p.Limits.MaxCost = 100
	if stop := run(t, p); stop.Passed != 40 || most.Load() != 1 {
		t.Fatalf("%+v, %d concurrent with the first", stop, most.Load())
	}
}

// Trials that failed before they cost anything do not measure the cost of a trial. In the next session the first
// one runs alone again, so a budget smaller than a trial is exceeded by that one only.
func TestFreeFailuresDoNotMeasureCost(t *testing.T) {
	dir, m := t.TempDir(), &oracle{}
	p := planOf(dir, 8, m, capitals)
	inputs := p.Variants[0].Inputs
	p.Variants[0].Inputs = func(dataset.Case) (map[string]any, error) { return nil, errors.New("no such column") }
	p.Limits.MaxCost = 0.005 // USD; a trial costs 0.01
	if stop := run(t, p); stop.Error == 0 || stop.Tokens != 0 {
		t.Fatalf("first session: %+v", stop)
	}
	p.Variants[0].Inputs = inputs
	if stop := run(t, p); stop.Why != batch.Budget || stop.Tokens != 10 || m.total() != 2 {
		t.Fatalf("second session: %+v, %d calls, want one trial", stop, m.total())
	}
}

func TestUnavailableJudgeStopsEvaluation(t *testing.T) {
	for _, row := range []struct {
		name   string
		kind   model.ErrorKind
		weight float64
		broken bool
	}{
		{"wrong key", model.AuthError, 1, true},
		{"no such model", model.NotFound, 1, true},
		{"no network", model.NetworkError, 1, true},
		{"replies that cannot be read", model.BadReply, 1, false},
		{"only watched", model.AuthError, 0, false},
	} {
		t.Run(row.name, func(t *testing.T) {
			dir, m := t.TempDir(), &oracle{}
			var well atomic.Bool
			judge := graded("helpful", row.weight, func(*trial.Subject) (trial.Mark, error) {
				if well.Load() {
					return mark(true), nil
				}
				return trial.Mark{}, fmt.Errorf("judge main: %w", &model.Error{Kind: row.kind, Message: "as the test says"})
			})
			p := planOf(dir, 60, m, judge, capitals)
			p.Concurrency = 2
			stop := run(t, p)
			if (stop.Why == batch.Broken) != row.broken || row.broken && m.total() > 60 {
				t.Fatalf("%+v after %d calls", stop, m.total())
			}
			if row.broken && !strings.Contains(stop.Message, "the check helpful cannot grade: judge main: "+string(row.kind)+": as the test says") {
				t.Fatal(stop.Message)
			}
			well.Store(true)
			if stop = run(t, p); stop.Why != batch.Done || stop.Passed != 60 || m.total() > 126 {
				t.Fatalf("afterwards: %+v, %d calls", stop, m.total())
			}
		})
	}
}

// Following the message about damaged rows restores all of them.
func TestDamagedRowsAreRebuiltFromJournals(t *testing.T) {
	dir, m := t.TempDir(), &oracle{}
	p := planOf(dir, 6, m, capitals)
	run(t, p)
	path := filepath.Join(dir, "rows.jsonl")
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.SplitAfter(string(b), "\n")
	lines[3] = strings.Replace(lines[3], `"passed"`, `"failed"`, 1)
	if err := os.WriteFile(path, []byte(strings.Join(lines, "")), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err = batch.Run(t.Context(), p)
	if !errors.Is(err, journal.ErrCorrupt) || !strings.Contains(err.Error(), "line 4 (") || !strings.Contains(err.Error(), "move "+path+" away, and --resume rebuilds the rows") {
		t.Fatal(err)
	}
	if err := os.Rename(path, path+".damaged"); err != nil {
		t.Fatal(err)
	}
	if stop := run(t, p); stop.Passed != 6 || m.total() != 12 {
		t.Fatalf("%+v, %d calls", stop, m.total())
	}
}

func TestGradingAgainIsCountedOnce(t *testing.T) {
	var down atomic.Bool
	down.Store(true)
	dear := graded("dear", 1, func(*trial.Subject) (trial.Mark, error) {
		return trial.Mark{Pass: true, Score: 1, Tokens: 100}, nil
	})
	judge := graded("judge", 1, func(*trial.Subject) (trial.Mark, error) {
		if down.Load() {
			return trial.Mark{Tokens: 3}, errors.New("no judgement")
		}
		return trial.Mark{Pass: true, Score: 1, Tokens: 7}, nil
	})
	p := planOf(t.TempDir(), 2, &oracle{}, dear, judge)
	for _, want := range []int{2 * 113, 2 * 116, 2 * 123, 2 * 123} {
		if stop := run(t, p); stop.Tokens != want {
			t.Fatalf("%+v, not %d", stop, want)
		}
		if want == 2*116 {
			down.Store(false)
		}
	}
}
