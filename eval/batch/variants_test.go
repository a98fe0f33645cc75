package batch_test

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/pexctl/pex/engine/exprenv"
	"github.com/pexctl/pex/engine/model"
	"github.com/pexctl/pex/eval/batch"
	"github.com/pexctl/pex/eval/trial"
)

// rivalry passes if the answer is longer than that of the other variant.
type rivalry struct{ against string }

func better(than string) batch.Graded {
	g := graded("better", 1, nil)
	g.Check = rivalry{than}
	return g
}

func (r rivalry) Against() string { return r.against }

func (r rivalry) Check(_ context.Context, s *trial.Subject) (trial.Mark, error) {
	m := mark(len(s.Result.Response) > len(s.Paired.Result.Response))
	m.Actual = s.Result.Response + " against " + s.Paired.Result.Response
	return m, nil
}

// longer returns a model that answers with more words.
func longer() *oracle {
	return &oracle{reply: func(_ context.Context, q string, _ int) (*model.Reply, error) {
		return &model.Reply{Text: q + " and more", Stop: model.EndTurn}, nil
	}}
}

func TestVariantsAreComparedPerTrial(t *testing.T) {
	dir, small := t.TempDir(), &oracle{}
	p := planOf(dir, 6, small, better("small"))
	p.Variants = []batch.Variant{variant("small", twice, small), variant("large", twice, longer())}
	p.Repeat = 2
	run(t, p)
	for key, row := range rows(t, dir) {
		if key.Variant == "small" && (len(row.Marks) != 0 || row.Outcome != trial.Passed) {
			t.Errorf("%v is compared with itself", key)
		}
		if key.Variant == "large" && (row.Outcome != trial.Passed || row.Marks[0].Actual != row.Run.Response+" against "+strings.ToUpper(row.Input["q"].(string))) {
			t.Errorf("%v: %+v", key, row.Marks)
		}
	}
}

func TestComparisonWaitsForOtherVariant(t *testing.T) {
	dir := t.TempDir()
	small, large := failingModel(model.ServerError), longer()
	p := planOf(dir, 2, small, better("small"))
	p.Variants = []batch.Variant{variant("large", twice, large), variant("small", twice, small)}
	run(t, p)
	row := rows(t, dir)[trial.Key{Case: "c0", Variant: "large", Repeat: 1}]
	if row.Fault == nil || row.Fault.Kind != trial.GraderFault || !strings.Contains(row.Fault.Message, `variant "small" has no result to compare with`) {
		t.Fatalf("%+v", row.Fault)
	}
	small.replies(nil)
	if stop := run(t, p); stop.Passed != 4 || large.total() != 4 {
		t.Fatalf("%+v, %d calls of the finished variant", stop, large.total())
	}
}

// If the other variant ended in an earlier session, its row is used.
func TestComparisonReadsRowOfEarlierSession(t *testing.T) {
	dir := t.TempDir()
	small, large := &oracle{}, failingModel(model.ServerError)
	p := planOf(dir, 2, small, better("small"))
	p.Variants = []batch.Variant{variant("small", twice, small), variant("large", twice, large)}
	run(t, p)
	large.replies(longer().reply)
	if stop := run(t, p); stop.Passed != 4 || small.total() != 4 {
		t.Fatalf("%+v", stop)
	}
}

func TestDecidedCaseRunsNoMoreTrials(t *testing.T) {
	dir, m := t.TempDir(), &oracle{}
	p := planOf(dir, 3, m, capitals)
	p.Repeat, p.Concurrency = 5, 1
	p.Decided = func(c exprenv.Case) bool { return c.Passed >= 2 && c.ID != "c1" && c.PassRate == 1 && c.Group != "" }
	stop := run(t, p)
	got := outcomes(t, dir)
	// One more trial may run, because trials start while earlier ones are graded.
	if stop.Why != batch.Done || stop.Trials != 15 || got[trial.Skipped] < 4 || got[trial.Passed]+got[trial.Skipped] != 15 || !strings.HasPrefix(stop.Note, "curtailed ") {
		t.Fatalf("%+v %v", stop, got)
	}
	calls := m.total()
	if stop := run(t, p); stop.Why != batch.Done || m.total() != calls || outcomes(t, dir)[trial.Skipped] != got[trial.Skipped] {
		t.Fatalf("%+v", stop)
	}
	p.Decided = func(c exprenv.Case) bool { return true }
	p.Repeat = 6
	p.Force = true
	if run(t, p); m.total() != calls || outcomes(t, dir)[trial.Skipped] != got[trial.Skipped]+3 {
		t.Fatal(outcomes(t, dir))
	}
}

func TestRescoreGradesStoredAnswers(t *testing.T) {
	dir := t.TempDir()
	small, large := &oracle{}, longer()
	large.reply = func(_ context.Context, q string, _ int) (*model.Reply, error) {
		if q == "q1" {
			return nil, &model.Error{Kind: model.ServerError, Message: "down"}
		}
		return &model.Reply{Text: q + " and more", Stop: model.EndTurn}, nil
	}
	p := planOf(dir, 3, small, capitals)
	p.Variants = []batch.Variant{variant("small", twice, small), variant("large", twice, large)}
	run(t, p)
	calls := small.total() + large.total()
	all, err := batch.OpenRows(dir)
	if err != nil {
		t.Fatal(err)
	}
	var parameters atomic.Int64
	again := graded("again", 1, func(s *trial.Subject) (trial.Mark, error) {
		if s.Parameters["question"] == s.Case["q"] && s.Trace.ModelCalls == 2 && s.Trace.Status == "completed" {
			parameters.Add(1)
		}
		return mark(strings.Contains(s.Output.(string), "more")), nil
	})
	out := filepath.Join(t.TempDir(), "again.jsonl")
	if err := batch.Rescore(t.Context(), all, []batch.Graded{again, better("small")}, out, 3, nil); err != nil {
		t.Fatal(err)
	}
	rescored, err := batch.ReadRows(out)
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for row, err := range rescored() {
		if err != nil {
			t.Fatal(err)
		}
		got[row.Variant+" "+row.Case] = string(row.Outcome)
	}
	want := map[string]string{"small c0": "failed", "small c1": "failed", "small c2": "failed", "large c0": "passed", "large c1": "error", "large c2": "passed"}
	for k, v := range want {
		if got[k] != v {
			t.Errorf("%s: %s, want %s", k, got[k], v)
		}
	}
	if len(got) != 6 || small.total()+large.total() != calls || parameters.Load() != 5 {
		t.Fatal(got, parameters.Load())
	}
	if err := batch.Rescore(t.Context(), all, nil, out, 1, nil); !errors.Is(err, fs.ErrExist) {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	half := filepath.Join(t.TempDir(), "half.jsonl")
	if err := batch.Rescore(ctx, all, nil, half, 1, nil); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	if _, err := batch.ReadRows(half); !errors.Is(err, fs.ErrNotExist) {
		t.Fatal("a partial file remains:", err)
	}
}

// Rows written during a reading are left out, since one that replaces an earlier row would come twice.
func TestRowsWrittenWhileReadingAreSkipped(t *testing.T) {
	dir := t.TempDir()
	run(t, planOf(dir, 3, &oracle{}, capitals))
	whole, err := os.ReadFile(filepath.Join(dir, "rows.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	lines := bytes.SplitAfter(whole, []byte("\n"))
	path := filepath.Join(t.TempDir(), "rows.jsonl")
	if err := os.WriteFile(path, bytes.Join(lines[:2], nil), 0o600); err != nil {
		t.Fatal(err)
	}
	all, err := batch.ReadRows(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []int{2, 3} {
		n := 0
		for _, err := range all() {
			if err != nil {
				t.Fatal(err)
			}
			if n++; n == 1 {
				if err := os.WriteFile(path, whole, 0o600); err != nil {
					t.Fatal(err)
				}
			}
		}
		if n != want {
			t.Errorf("%d rows, want %d", n, want)
		}
	}
}

func TestRescoreFailsOnUnreadableRows(t *testing.T) {
	broken := errors.New("the rows are damaged")
	rows := func() iter.Seq2[*trial.Row, error] {
		return func(yield func(*trial.Row, error) bool) { yield(nil, broken) }
	}
	out := filepath.Join(t.TempDir(), "again.jsonl")
	if err := batch.Rescore(t.Context(), rows, []batch.Graded{capitals}, out, 3, nil); !errors.Is(err, broken) {
		t.Error(err)
	}
	if _, err := batch.ReadRows(out); !errors.Is(err, fs.ErrNotExist) {
		t.Error("a file remains:", err)
	}
}
