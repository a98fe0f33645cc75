package batch_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/pexctl/pex/engine/journal"
	"github.com/pexctl/pex/engine/model"
	"github.com/pexctl/pex/engine/plan"
	"github.com/pexctl/pex/engine/stop"
	"github.com/pexctl/pex/eval/batch"
	"github.com/pexctl/pex/eval/dataset"
	"github.com/pexctl/pex/eval/trial"
)

func TestEveryTrialHasRow(t *testing.T) {
	dir, m := t.TempDir(), &oracle{}
	watched := graded("watched", 0, func(*trial.Subject) (trial.Mark, error) { return mark(false), nil })
	half := graded("half", 3, func(*trial.Subject) (trial.Mark, error) { return trial.Mark{Pass: true, Score: 0.5}, nil })
	p := planOf(dir, 3, m, capitals, watched, half)
	p.Variants = []batch.Variant{variant("a", twice, m), variant("b", twice, m)}
	p.Repeat = 2
	end := run(t, p)
	if end.Why != batch.Done || end.Trials != 12 || end.Total != 12 || end.Passed != 12 || end.InFlight != 0 || end.Tokens != 12*10 {
		t.Fatalf("%+v", end)
	}
	got := timeless(rows(t, dir))
	if len(got) != 12 {
		t.Fatal(len(got))
	}
	row := got[trial.Key{Case: "c2", Variant: "b", Repeat: 2}]
	want := &trial.Row{
		V: 1, Key: trial.Key{Case: "c2", Variant: "b", Repeat: 2}, Line: 3, Group: "g0",
		Input: map[string]any{"q": "q2"}, Parameters: map[string]any{"question": "q2"}, Outcome: trial.Passed, Score: 0.625,
		Marks: []trial.Mark{
			{Check: "capitals", Type: "test", Pass: true, Score: 1, Weight: 1, Line: 7},
			{Check: "watched", Type: "test", Message: "no", Line: 7},
			{Check: "half", Type: "test", Pass: true, Score: 0.5, Weight: 3, Line: 7},
		},
		Run: trial.Run{
			ID: "e-1~c2~b~2", Status: stop.RunCompleted, StopReason: stop.Reason{Code: stop.Answered, Status: stop.RunCompleted},
			Response: "Q2", Plan: plan.Plan{Steps: []plan.Step{}}, Tokens: 10, Cost: 0.01, ModelCalls: 2,
		},
	}
	row.At = want.At
	if d := cmp.Diff(want, row); d != "" {
		t.Error(d)
	}
	if n := m.total(); n != 24 {
		t.Errorf("%d calls", n)
	}
	if stop := run(t, p); stop.Why != batch.Done || stop.Trials != 12 || m.total() != 24 {
		t.Fatalf("it ran again: %+v, %d calls", stop, m.total())
	}
}

func TestAllSlotsAreInFlight(t *testing.T) {
	const j = 8
	var mu sync.Mutex
	waiting, gate := 0, make(chan struct{})
	m := &oracle{reply: func(context.Context, string, int) (*model.Reply, error) {
		mu.Lock()
		mine := gate
		if waiting++; waiting == j { // the last one releases all
			waiting, gate = 0, make(chan struct{})
			close(mine)
		}
		mu.Unlock()
		<-mine
		return nil, nil
	}}
	p := planOf(t.TempDir(), 5*j, m, capitals)
	p.Concurrency = j
	if stop := run(t, p); stop.Passed != 5*j { // hangs if not all are in flight
		t.Fatalf("%+v", stop)
	}
}

func TestNegatedChecksAndRunsWithoutChecks(t *testing.T) {
	dir := t.TempDir()
	not := capitals
	not.Spec.Negate = true
	run(t, planOf(dir, 1, &oracle{}, not))
	if row := rows(t, dir)[first("c0")]; row.Outcome != trial.Failed || row.Score != 0 || row.Marks[0].Pass {
		t.Fatalf("%+v", row)
	}
	dir = t.TempDir()
	run(t, planOf(dir, 1, &oracle{}))
	if row := rows(t, dir)[first("c0")]; row.Outcome != trial.Passed || row.Score != 1 {
		t.Fatalf("%+v", row)
	}
}

func TestPromptsAreStoredIfNeeded(t *testing.T) {
	for _, wanted := range []bool{false, true} {
		dir := t.TempDir()
		p := planOf(dir, 1, &oracle{}, graded("sees", 1, func(s *trial.Subject) (trial.Mark, error) {
			return mark(cmp.Equal(s.Trace.Prompts, []string{"q0", "q0"})), nil
		}))
		p.Prompts = wanted
		if stop := run(t, p); (stop.Passed == 1) != wanted || len(rows(t, dir)[first("c0")].Run.Prompts) != 2*stop.Passed {
			t.Fatalf("%v: %+v", wanted, stop)
		}
	}
}

func TestSuspendedEvaluationResumes(t *testing.T) {
	undisturbed := t.TempDir()
	run(t, planOf(undisturbed, 40, &oracle{}, capitals))
	want := timeless(rows(t, undisturbed))

	dir := t.TempDir()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var mu sync.Mutex
	n := 0
	m := &oracle{reply: func(ctx context.Context, _ string, nth int) (*model.Reply, error) {
		mu.Lock()
		n++
		if n == 33 {
			cancel()
		}
		mu.Unlock()
		if nth == 2 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		return nil, nil
	}}
	p := planOf(dir, 40, m, capitals)
	stop, err := batch.Run(ctx, p)
	if err != nil || stop.Why != batch.Suspended || stop.Trials == 0 || stop.Trials == 40 {
		t.Fatalf("%+v %v", stop, err)
	}
	before := rows(t, dir)
	m.replies(nil)
	if stop := run(t, p); stop.Why != batch.Done || stop.Passed != 40 {
		t.Fatalf("%+v", stop)
	}
	if d := cmp.Diff(want, timeless(rows(t, dir))); d != "" {
		t.Error(d)
	}
	for key := range before {
		if q := "q" + strings.TrimPrefix(key.Case, "c"); m.asked(q) != 2 {
			t.Errorf("%s was asked %d times", q, m.asked(q))
		}
	}
}

func TestResumeRejectsOtherEvaluation(t *testing.T) {
	dir := t.TempDir()
	p := planOf(dir, 2, &oracle{}, capitals)
	run(t, p)
	p.Manifest.Digest, p.Manifest.Repeat = "sha256:other", 3
	_, err := batch.Run(t.Context(), p)
	if err == nil || !strings.Contains(err.Error(), "evaluation e-1 has other inputs: the suite, the number of repeats") {
		t.Fatal(err)
	}
	p.Force = true
	run(t, p)
	if m, err := batch.ReadManifest(dir); err != nil || m.Digest != "sha256:s" {
		t.Fatal(m, err)
	}
}

func TestEvaluationIsLocked(t *testing.T) {
	dir := t.TempDir()
	var inner error
	m := &oracle{}
	m.reply = func(context.Context, string, int) (*model.Reply, error) {
		_, inner = batch.Run(context.Background(), planOf(dir, 1, m))
		return nil, nil
	}
	run(t, planOf(dir, 1, m))
	if _, ok := errors.AsType[*journal.InUseError](inner); !ok || !strings.Contains(inner.Error(), fmt.Sprint("is held by pid ", os.Getpid())) {
		t.Fatal(inner)
	}
}

func TestRecordsOfTrial(t *testing.T) {
	dir := t.TempDir()
	run(t, planOf(dir, 2, &oracle{}))
	recs, err := batch.Records(dir, rows(t, dir)[first("c1")].Run.ID)
	if err != nil || len(recs) != 6 || recs[5].Kind != journal.End {
		t.Fatal(len(recs), err)
	}
	source, err := batch.ProgramSource(dir, "sha256:p")
	if err != nil || string(source) != `{"name":"p"}` {
		t.Fatal(string(source), err)
	}
	b, err := os.ReadFile(filepath.Join(dir, "trials.jsonl"))
	if err != nil || !json.Valid([]byte(strings.Split(string(b), "\n")[0])) || strings.Contains(string(b), `"program":{`) {
		t.Fatal(err, "every trial stores the program")
	}
}

func TestRunIDsAreSafeAndUnique(t *testing.T) {
	dir := t.TempDir()
	long := strings.Repeat("x", 100)
	ids := []string{"a b", "a/b", "ä", "../../etc", long, long + "y", strings.Repeat("é", 128)}
	p := planOf(dir, len(ids), &oracle{})
	p.Cases = renamed(p.Cases, ids)
	if stop := run(t, p); stop.Passed != len(ids) {
		t.Fatalf("%+v", stop)
	}
	seen := map[string]bool{}
	for _, row := range rows(t, dir) {
		seen[row.Run.ID] = true
	}
	if len(seen) != len(ids) {
		t.Fatal(seen)
	}
}

// renamed replaces the ids of cases.
func renamed(all dataset.Cases, ids []string) dataset.Cases {
	return func() iter.Seq2[dataset.Case, error] {
		return func(yield func(dataset.Case, error) bool) {
			n := 0
			for c, err := range all() {
				c.ID = ids[n]
				if n++; !yield(c, err) {
					return
				}
			}
		}
	}
}

func TestBrokenDatasetStopsEvaluation(t *testing.T) {
	broken := errors.New("cases.jsonl:3: this is not JSON")
	p := planOf(t.TempDir(), 2, &oracle{})
	good := p.Cases
	p.Cases = func() iter.Seq2[dataset.Case, error] {
		return func(yield func(dataset.Case, error) bool) {
			for c := range good() {
				if !yield(c, nil) {
					return
				}
			}
			yield(dataset.Case{}, broken)
		}
	}
	stop, err := batch.Run(t.Context(), p)
	if !errors.Is(err, broken) || stop.Why != batch.Broken {
		t.Fatal(stop, err)
	}
	if _, err := batch.Survey(p.Cases, p.Variants); !errors.Is(err, broken) {
		t.Fatal(err)
	}
}

func TestSurveyFindsInvalidCases(t *testing.T) {
	p := planOf("", 30, &oracle{})
	if n, err := batch.Survey(p.Cases, p.Variants); n != 30 || err != nil {
		t.Fatal(n, err)
	}
	p.Variants[0].Inputs = func(c dataset.Case) (map[string]any, error) {
		if c.Line%2 == 0 {
			return nil, fmt.Errorf("case %s: parameter limit is required", c.ID)
		}
		return nil, nil
	}
	n, err := batch.Survey(p.Cases, p.Variants)
	if n != 30 || err == nil || strings.Count(err.Error(), "\n") != 9 || !strings.HasPrefix(err.Error(), "line 2: case c1: parameter limit is required\n") {
		t.Fatal(n, err)
	}
}

func TestProgressIsReportedAtEnd(t *testing.T) {
	var last trial.Progress
	p := planOf(t.TempDir(), 5, &oracle{}, capitals)
	p.Progress = func(now trial.Progress) { last = now }
	stop := run(t, p)
	last.Elapsed, stop.Elapsed = 0, 0
	if d := cmp.Diff(stop.Progress, last); d != "" || last.Trials != 5 {
		t.Fatal(d)
	}
}

func TestRowsAreMasked(t *testing.T) {
	dir := t.TempDir()
	p := planOf(dir, 1, &oracle{})
	p.Mask = func(row *trial.Row, _ []byte) bool { row.Run.Response = "***"; return true }
	run(t, p)
	if got := rows(t, dir)[first("c0")].Run.Response; got != "***" {
		t.Fatal(got)
	}
}

func TestInvalidPlans(t *testing.T) {
	p := planOf(t.TempDir(), 1, &oracle{})
	for name, change := range map[string]func(*batch.Plan){
		"no folder":    func(p *batch.Plan) { p.Dir = "" },
		"no cases":     func(p *batch.Plan) { p.Cases = nil },
		"no variant":   func(p *batch.Plan) { p.Variants = nil },
		"no id":        func(p *batch.Plan) { p.Manifest.ID = "" },
		"same variant": func(p *batch.Plan) { p.Variants = append(p.Variants, p.Variants...) },
		"no rival":     func(p *batch.Plan) { p.Checks = []batch.Graded{better("other")} },
	} {
		t.Run(name, func(t *testing.T) {
			p := p
			change(&p)
			if _, err := batch.Run(t.Context(), p); err == nil {
				t.Fatal("the plan was accepted")
			}
		})
	}
}
