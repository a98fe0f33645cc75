package kernel_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pexctl/pex/engine/journal"
	"github.com/pexctl/pex/engine/kernel"
)

// shelf answers by path.
type shelf map[string]kernel.RecordedOutcome

func (s shelf) Find(a kernel.EffectQuery) (kernel.RecordedOutcome, error) { return s[a.Path], nil }

// onShelf is the results of a journal, by path.
func onShelf(recs []journal.Record) shelf {
	out := shelf{}
	for i := range recs {
		if recs[i].Kind == journal.Result {
			out[recs[i].Path] = kernel.RecordedOutcome{Result: &recs[i]}
		}
	}
	return out
}

// race has three branches whose effects end in an order of their own.
func race(order *[]string) func(*kernel.Scope) error {
	return func(s *kernel.Scope) error {
		*order = nil
		return s.Parallel(3, name, func(i int, s *kernel.Scope) error {
			for _, n := range []string{"x", "y"} {
				v, err := eff(s, n, time.Duration(3-i)*time.Second)
				if err != nil {
					return err
				}
				*order = append(*order, v)
			}
			return nil
		})
	}
}

func TestRecordedAnswersComeInTheirOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		first, second := &journal.Memory{RoundTrip: true}, &journal.Memory{RoundTrip: true}
		var was, now []string
		if _, err := run(first, race(&was)); err != nil {
			t.Fatal(err)
		}
		o := kernel.Options{RunID: "r", Journal: second, Recorded: onShelf(first.Records)}
		began := time.Now()
		stats, err := runWith(t.Context(), o, race(&now))
		if err != nil || stats.Performed != 0 || time.Since(began) != 0 {
			t.Fatal(err, stats, time.Since(began))
		}
		if d := cmp.Diff(was, now); d != "" {
			t.Fatal(d)
		}
		if _, err := run(second, race(&now)); err != nil || !slices.Equal(was, now) {
			t.Fatal("its own journal does not replay:", err, now)
		}
	})
}

// A session that is killed between an intent and the recorded answer finds the
// answer again.
func TestRecordedAnswersSurviveACut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		first := &journal.Memory{RoundTrip: true}
		var was, now []string
		if _, err := run(first, race(&was)); err != nil {
			t.Fatal(err)
		}
		whole := &journal.Memory{RoundTrip: true}
		o := kernel.Options{RunID: "r", Journal: whole, Recorded: onShelf(first.Records)}
		if _, err := runWith(t.Context(), o, race(&now)); err != nil {
			t.Fatal(err)
		}
		for n := 1; n < len(whole.Records); n++ {
			o.Journal = &journal.Memory{RoundTrip: true, Records: slices.Clone(whole.Records[:n])}
			if stats, err := runWith(t.Context(), o, race(&now)); err != nil || stats.Performed != 0 || !slices.Equal(was, now) {
				t.Fatal(n, err, stats, now)
			}
		}
	})
}

func TestARecordedWriteInDoubtParks(t *testing.T) {
	j := &journal.Memory{RoundTrip: true}
	wrote := 0
	main := func(s *kernel.Scope) error {
		v, err := kernel.Do(s, kernel.Effect[int]{Name: "w", Class: journal.Write, Perform: func(context.Context, string) (int, error) {
			wrote++
			return wrote, nil
		}})
		if err == nil && v != 7 {
			return errors.New("another result")
		}
		return err
	}
	o := kernel.Options{RunID: "r", Journal: j, Recorded: shelf{"w": {UnknownOutcome: true}}}
	var review *kernel.NeedsReview
	for range 2 {
		if _, err := runWith(t.Context(), o, main); !errors.As(err, &review) || wrote != 0 {
			t.Fatal(err, wrote)
		}
	}
	o.Resolve = map[string]string{"w": "done:7"}
	if _, err := runWith(t.Context(), o, main); err != nil || wrote != 0 {
		t.Fatal(err, wrote)
	}
}

func TestWhoLooksOnSeesWhatIsAppended(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		whole := &journal.Memory{RoundTrip: true}
		var was []string
		if _, err := run(whole, race(&was)); err != nil {
			t.Fatal(err)
		}
		for step := 1; step <= 4; step++ {
			var seen []string
			n := 1
			o := kernel.Options{Journal: &journal.Memory{Records: whole.Records[:n]}}
			o.Follow = func() ([]journal.Record, error) {
				to := min(n+step, len(whole.Records))
				more := whole.Records[n:to]
				n = to
				return more, nil
			}
			if stats, err := runWith(t.Context(), o, race(&seen)); err != nil || stats.Performed+stats.Commits != 0 || !slices.Equal(was, seen) {
				t.Fatal(step, err, stats, seen)
			}
		}
		var seen []string
		o := kernel.Options{Journal: &journal.Memory{Records: whole.Records[:5]}, Follow: func() ([]journal.Record, error) { return nil, nil }}
		var paused *kernel.Paused
		if _, err := runWith(t.Context(), o, race(&seen)); !errors.As(err, &paused) || paused.Others == 0 || !errors.Is(err, kernel.ErrPaused) {
			t.Fatal(err)
		}
	})
}

func TestACancelledRunDoesNotWaitForAWriteInDoubt(t *testing.T) {
	j := &journal.Memory{RoundTrip: true}
	var got error
	main := func(s *kernel.Scope) error {
		_, got = kernel.Do(s, kernel.Effect[int]{Name: "w", Class: journal.Write, Perform: func(context.Context, string) (int, error) { return 1, nil }})
		_, err := eff(s, "next", 0)
		return err
	}
	if _, err := run(j, main); err != nil {
		t.Fatal(err)
	}
	j.Records = j.Records[:2] // cut behind the write's intent
	asked := make(chan struct{})
	close(asked)
	o := kernel.Options{RunID: "r", Journal: j, Cancel: asked}
	for range 2 {
		_, err := runWith(t.Context(), o, main)
		var f *journal.Failure
		if !errors.As(got, &f) || f.Code != "unknown" || err == nil || err.Error() != kernel.ErrCancelled.Error() {
			t.Fatal(got, err)
		}
		o.Cancel = nil
	}
}

// A write that a recording left in doubt waits until all else has ended: what
// runs beside it is neither cut nor in doubt itself.
func TestARecordedDoubtLetsOthersEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j := &journal.Memory{RoundTrip: true}
		var performed []string
		main := func(s *kernel.Scope) error {
			return s.Parallel(2, name, func(i int, s *kernel.Scope) error {
				_, err := kernel.Do(s, kernel.Effect[string]{Name: "w", Class: journal.Write, Perform: func(_ context.Context, key string) (string, error) {
					time.Sleep(time.Hour)
					performed = append(performed, key)
					return key, nil
				}})
				return err
			})
		}
		o := kernel.Options{RunID: "r", Journal: j, Recorded: shelf{"b.1/w": {UnknownOutcome: true}}}
		var review *kernel.NeedsReview
		for range 2 {
			_, err := runWith(t.Context(), o, main)
			if !errors.As(err, &review) || len(review.Writes) != 1 || review.Path != "b.1/w" || !slices.Equal(performed, []string{"r/b.0/w"}) {
				t.Fatal(err, performed)
			}
		}
		o.Resolve = map[string]string{"b.1/w": "skip"}
		if _, err := runWith(t.Context(), o, main); err == nil || len(performed) != 1 {
			t.Fatal(err, performed)
		}
	})
}

// withheld withholds what a shelf does not have.
type withheld struct{ shelf }

func (w withheld) Find(a kernel.EffectQuery) (kernel.RecordedOutcome, error) {
	if out, ok := w.shelf[a.Path]; ok {
		return out, nil
	}
	return kernel.RecordedOutcome{Withheld: true}, nil
}

// A withheld effect is not performed, and what is recorded in other branches is delivered
// before the session ends, whatever timers there are.
func TestWithheldEffectsEndTheSession(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		first := &journal.Memory{RoundTrip: true}
		var order []string
		if _, err := run(first, race(&order)); err != nil {
			t.Fatal(err)
		}
		known := onShelf(first.Records)
		var without string
		for path := range known {
			without = max(without, path)
		}
		delete(known, without)
		o := kernel.Options{RunID: "r", Journal: &journal.Memory{}, Recorded: withheld{known}}
		began := time.Now()
		var now []string
		stats, err := runWith(t.Context(), o, func(s *kernel.Scope) error {
			return s.Bound("limit", time.Hour, race(&now))
		})
		if !errors.Is(err, kernel.ErrWithheld) || stats.Performed != 0 || time.Since(began) != 0 || len(now) != len(order)-1 {
			t.Errorf("%v, %d performed after %v, answered %q", err, stats.Performed, time.Since(began), now)
		}
	})
}
