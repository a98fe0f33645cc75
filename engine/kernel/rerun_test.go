package kernel_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pexctl/pex/engine/journal"
	"github.com/pexctl/pex/engine/kernel"
)

// rerun runs a complete journal again and wants the same state and nothing new.
func rerun(t *testing.T, sp agentSpec, recs []journal.Record, o kernel.Options, want outcome) {
	t.Helper()
	before := file(t, recs)
	j, w := &journal.Memory{Records: recs, RoundTrip: true}, newWorld(0)
	got, stats, err := sp.run(w, j, o)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Fatalf("the re-run differs (-want +got):\n%s", d)
	}
	if stats.Performed != 0 || len(w.counts) != 0 || !bytes.Equal(before, file(t, j.Records)) {
		t.Fatalf("the re-run added something: %+v", stats)
	}
}

// In arrival order, whatever the latencies were and although replies are never
// the same twice.
func TestRerunOfACompleteJournalAddsNothing(t *testing.T) {
	orders := map[string]bool{}
	for range 30 {
		synctest.Test(t, func(t *testing.T) {
			sp := agents["budget binds"]
			j, w := &journal.Memory{RoundTrip: true}, newWorld(time.Second)
			w.nonce = true
			out, _, err := sp.run(w, j, kernel.Options{})
			if err != nil {
				t.Fatal(err)
			}
			orders[fmt.Sprint(out.Order, out.Denied)] = true
			rerun(t, sp, j.Records, kernel.Options{}, out)
		})
	}
	if len(orders) < 2 {
		t.Error("all runs went the same way: the test shows nothing")
	}
}

func TestFreshRunsInVirtualTimeGiveTheSameJournal(t *testing.T) {
	for label, sp := range agents {
		t.Run(label, func(t *testing.T) {
			var want []byte
			for i := range 12 {
				j := &journal.Memory{RoundTrip: i%2 == 0}
				if _, _, err := sp.run(newWorld(300*time.Microsecond), j, kernel.Options{Virtual: true}); err != nil {
					t.Fatal(err)
				}
				got := file(t, j.Records)
				if want == nil {
					want = got
				}
				if !bytes.Equal(want, got) {
					t.Fatalf("journals differ:\n%s", cmp.Diff(string(want), string(got)))
				}
			}
		})
	}
}

func TestFreshRunsInArrivalOrderDiffer(t *testing.T) {
	seen := map[string]bool{}
	for range 20 {
		synctest.Test(t, func(t *testing.T) {
			j := &journal.Memory{}
			fixed := kernel.Options{Clock: func() time.Duration { return 0 }, WallClock: func() time.Time { return time.Unix(0, 0) }}
			if _, _, err := agents["budget binds"].run(newWorld(time.Second), j, fixed); err != nil {
				t.Fatal(err)
			}
			seen[string(file(t, j.Records))] = true
		})
	}
	if len(seen) < 2 {
		t.Error("arrival order alone gave the same journals: virtual time would not be needed")
	}
}

func TestSharedBudgetIsNeverOvershotAndDecidesTheSameAgain(t *testing.T) {
	denials := map[int]bool{}
	for range 60 {
		synctest.Test(t, func(t *testing.T) {
			sp := agents["budget binds"]
			j, w := &journal.Memory{RoundTrip: true}, newWorld(time.Second)
			w.nonce = true
			out, _, err := sp.run(w, j, kernel.Options{})
			if err != nil || out.Used > sp.budget {
				t.Fatal(err, out.Used)
			}
			denials[out.Denied] = true
			rerun(t, sp, j.Records, kernel.Options{}, out)
		})
	}
	if len(denials) == 1 && denials[0] {
		t.Error("the budget never bound")
	}
}

func TestMainGetsTheStartThatWasJournaled(t *testing.T) {
	j := &journal.Memory{}
	wall := time.Date(2026, 11, 20, 11, 24, 3, 5, time.UTC)
	for i, start := range []string{`{"q":1}`, `{"q":2}`} {
		_, err := kernel.Run(context.Background(), kernel.Options{
			RunID: "r", Journal: j, Start: []byte(start), WallClock: func() time.Time { return wall.Add(time.Duration(i) * time.Hour) },
		}, func(s *kernel.Scope, got []byte) error {
			if string(got) != `{"q":1}` || !s.Start().Equal(wall) {
				t.Errorf("session %d: %s, %s", i, got, s.Start())
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

func TestMainsErrorIsTheRunsAgain(t *testing.T) {
	j := &journal.Memory{RoundTrip: true}
	boom := errors.New("boom")
	for range 2 {
		if _, err := run(j, func(s *kernel.Scope) error { return boom }); !errors.Is(err, boom) {
			t.Fatal(err)
		}
	}
	if last := j.Records[len(j.Records)-1]; len(j.Records) != 2 || last.Kind != journal.End || last.Status != journal.Failed {
		t.Fatalf("%+v", j.Records)
	}
}

func TestLiveAndReplayedResultsAreTheSame(t *testing.T) {
	type value struct {
		S      []int
		hidden int
	}
	j := &journal.Memory{RoundTrip: true}
	var seen []value
	var failures []error
	for range 2 {
		_, err := run(j, func(s *kernel.Scope) error {
			v, err := kernel.Do(s, kernel.Effect[value]{Name: "v", Class: journal.Read, Perform: func(context.Context, string) (value, error) {
				return value{S: []int{1}, hidden: 7}, nil
			}})
			seen = append(seen, v)
			if err != nil {
				return err
			}
			_, err = kernel.Do(s, kernel.Effect[value]{Name: "f", Class: journal.Read, Perform: func(context.Context, string) (value, error) {
				return value{}, fmt.Errorf("wrapped: %w", &journal.Failure{Code: "model", Message: "a\xff", Data: []byte(`{ "n": 1 }`)})
			}})
			failures = append(failures, err)
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if d := cmp.Diff(seen[0], seen[1], cmp.AllowUnexported(value{})); d != "" || seen[0].hidden != 0 {
		t.Fatal(d, seen)
	}
	var f *journal.Failure
	if d := cmp.Diff(failures[0], failures[1]); d != "" || !errors.As(failures[0], &f) || f.Code != "model" || string(f.Data) != `{"n":1}` {
		t.Fatal(d, failures)
	}
}

func TestAJournalOfGoValuesIsReadWithAnotherType(t *testing.T) {
	j := &journal.Memory{}
	if _, err := run(j, func(s *kernel.Scope) error {
		_, err := kernel.Do(s, kernel.Effect[map[string]int]{Name: "v", Class: journal.Read, Perform: func(context.Context, string) (map[string]int, error) {
			return map[string]int{"n": 4}, nil
		}})
		return err
	}); err != nil {
		t.Fatal(err)
	}
	if _, err := run(j, func(s *kernel.Scope) error {
		v, err := kernel.Do(s, kernel.Effect[struct{ N int }]{Name: "v", Class: journal.Read})
		if v.N != 4 {
			t.Error(v)
		}
		return err
	}); err != nil {
		t.Fatal(err)
	}
}
