package kernel_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pexctl/pex/engine/journal"
	"github.com/pexctl/pex/engine/kernel"
)

// limited makes as many effects as the limit allows, and then a last one.
type limited struct {
	limit int
	did   []string
}

func (l *limited) options(j journal.Journal, more int) kernel.Options {
	o := kernel.Options{RunID: "r", Journal: j, Virtual: true}
	o.OnChange = func(body []byte) { _ = json.Unmarshal(body, &l.limit) }
	if more > 0 {
		o.ChangeBody = func() []byte { return fmt.Append(nil, more) }
	}
	return o
}

func (l *limited) main(s *kernel.Scope) error {
	l.did = nil
	for n := 1; ; n++ {
		for n > l.limit && s.ReevaluateLimits() {
		}
		if n > l.limit {
			break
		}
		v, err := eff(s, fmt.Sprint("e", n), 0)
		if err != nil {
			return err
		}
		l.did = append(l.did, v)
	}
	v, err := eff(s, "last", 0)
	l.did = append(l.did, v)
	return err
}

func TestARunThatStoppedAtALimitGoesOnFromThere(t *testing.T) {
	j := &journal.Memory{RoundTrip: true}
	steps := []struct {
		more int
		want []string
	}{
		{0, []string{"r/e1", "r/e2", "r/last"}},
		{4, []string{"r/e1", "r/e2", "r/e3", "r/e4", "r/last"}},
		{0, []string{"r/e1", "r/e2", "r/e3", "r/e4", "r/last"}},
		{5, []string{"r/e1", "r/e2", "r/e3", "r/e4", "r/e5", "r/last"}},
	}
	for i, step := range steps {
		l := &limited{limit: 2}
		stats, err := runWith(t.Context(), l.options(j, step.more), l.main)
		if err != nil || stats.Changed != (step.more > 0) {
			t.Fatal(i, err, stats)
		}
		if d := cmp.Diff(step.want, l.did); d != "" {
			t.Fatal(i, d)
		}
	}
	for _, rec := range journal.WithoutVoided(j.Records) {
		if rec.Kind == journal.End && rec.Seq != j.Records[len(j.Records)-1].Seq {
			t.Error("an end before the last one stands:", rec.Seq)
		}
	}
}

// A session that died between the limit and what follows it has left nothing
// behind that could become void: the change is made at the limit all the same.
func TestALimitThatTheJournalEndsAtIsRaised(t *testing.T) {
	whole := &journal.Memory{RoundTrip: true}
	l := &limited{limit: 2}
	if _, err := runWith(t.Context(), l.options(whole, 0), l.main); err != nil {
		t.Fatal(err)
	}
	j := &journal.Memory{RoundTrip: true, Records: slices.Clone(whole.Records[:5])} // e1 and e2 have ended
	for _, more := range []int{3, 0, 4, 0} {
		l := &limited{limit: 2}
		stats, err := runWith(t.Context(), l.options(j, more), l.main)
		if err != nil || stats.Changed != (more > 0) || len(l.did) != max(more, l.limit)+1 {
			t.Fatal(more, err, stats, l.did)
		}
	}
}

// What was under way when the limit was met happened: its outcome is kept.
func TestWhatWasUnderWayAtTheLimitIsKept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j := &journal.Memory{RoundTrip: true}
		wrote, limit := 0, 1
		main := func(s *kernel.Scope) error {
			return s.Parallel(2, name, func(i int, s *kernel.Scope) error {
				if i == 0 {
					_, err := kernel.Do(s, kernel.Effect[int]{Name: "w", Class: journal.Write, Perform: func(context.Context, string) (int, error) {
						time.Sleep(time.Hour)
						wrote++
						return wrote, nil
					}})
					return err
				}
				if _, err := eff(s, "r", time.Minute); err != nil {
					return err
				}
				for limit == 1 {
					if !s.ReevaluateLimits() {
						return nil
					}
				}
				_, err := eff(s, "more", time.Minute)
				return err
			})
		}
		o := kernel.Options{RunID: "r", Journal: j}
		o.OnChange = func([]byte) { limit = 2 }
		if _, err := runWith(t.Context(), o, main); err != nil {
			t.Fatal(err)
		}
		o.ChangeBody = func() []byte { return []byte("2") }
		for range 2 {
			limit = 1
			if _, err := runWith(t.Context(), o, main); err != nil || wrote != 1 {
				t.Fatal(err, wrote)
			}
			o.ChangeBody = nil
		}
		if !slices.ContainsFunc(journal.WithoutVoided(j.Records), func(r journal.Record) bool {
			return r.Path == "b.1/more" && r.Kind == journal.Result
		}) {
			t.Error("the run did not go on")
		}
	})
}

func TestAWriteBehindTheLimitCannotBecomeVoid(t *testing.T) {
	j := &journal.Memory{RoundTrip: true}
	main := func(s *kernel.Scope) error {
		if s.ReevaluateLimits() {
			return errors.New("it became void")
		}
		_, err := kernel.Do(s, kernel.Effect[int]{Name: "w", Class: journal.Write, Perform: func(context.Context, string) (int, error) { return 1, nil }})
		return err
	}
	if _, err := run(j, main); err != nil {
		t.Fatal(err)
	}
	o := kernel.Options{RunID: "r", Journal: j, ChangeBody: func() []byte { return []byte("1") }}
	if stats, err := runWith(t.Context(), o, main); err != nil || stats.Changed {
		t.Fatal(err, stats)
	}
}

func TestADeadlineMayGiveMoreTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j := &journal.Memory{RoundTrip: true}
		left := []time.Duration{time.Hour}
		more := left
		main := func(s *kernel.Scope) error {
			again := func() (time.Duration, bool) {
				if len(more) == 0 {
					return 0, false
				}
				d := more[0]
				more = more[1:]
				return d, true
			}
			return s.Deadline("", time.Minute, again, func(s *kernel.Scope) error { _, err := eff(s, "e", 3*time.Hour); return err })
		}
		for range 2 {
			more = left
			_, err := run(j, main)
			if err == nil || err.Error() != kernel.ErrTimeout.Error() {
				t.Fatal(err)
			}
		}
		if last := j.Records[len(j.Records)-1]; time.Duration(last.At) != 61*time.Minute {
			t.Error("it was given up after", time.Duration(last.At))
		}
	})
}
