package kernel_test

import (
	"bytes"
	"context"
	"errors"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pexctl/pex/engine/enginetest"
	"github.com/pexctl/pex/engine/journal"
	"github.com/pexctl/pex/engine/kernel"
)

// TestJournalsDoNotDependOnTheWorld runs agents in virtual time where tasks are performed one at
// a time in random order, and results come as JSON.
func TestJournalsDoNotDependOnTheWorld(t *testing.T) {
	for name, sp := range agents {
		t.Run(name, func(t *testing.T) {
			here := &journal.Memory{RoundTrip: true}
			want, _, err := sp.run(newWorld(0), here, kernel.Options{Virtual: true})
			if err != nil {
				t.Fatal(err)
			}
			for seed := range uint64(20) {
				there := &journal.Memory{RoundTrip: true}
				w := &enginetest.World{Choose: rand.New(rand.NewPCG(seed, 1)).IntN}
				got, _, err := sp.run(newWorld(0), there, kernel.Options{Virtual: true, World: w})
				if err != nil {
					t.Fatal(err)
				}
				if d := cmp.Diff(want, got); d != "" {
					t.Errorf("seed %d: the outcome differs (-here +there):\n%s", seed, d)
				}
				if a, b := file(t, here.Records), file(t, there.Records); !bytes.Equal(a, b) {
					t.Fatalf("seed %d: the journals differ (-here +there):\n%s", seed, cmp.Diff(string(a), string(b)))
				}
			}
		})
	}
}

// TestWorldOrdersWhatHappens runs agents in the world's own time: its order of outcomes decides,
// and a replay follows it.
func TestWorldOrdersWhatHappens(t *testing.T) {
	for name, sp := range agents {
		t.Run(name, func(t *testing.T) {
			orders := map[string]bool{}
			for seed := range uint64(20) {
				j := &journal.Memory{RoundTrip: true}
				w := &enginetest.World{Choose: rand.New(rand.NewPCG(seed, 2)).IntN}
				o := kernel.Options{World: w, WallClock: func() time.Time { return time.Unix(0, 0) }}
				out, _, err := sp.run(newWorld(0), j, o)
				if err != nil {
					t.Fatal(err)
				}
				orders[string(file(t, j.Records))] = true
				rerun(t, sp, j.Records, kernel.Options{}, out)
			}
			if (len(orders) > 1) != (sp.parallel > 1) {
				t.Errorf("20 orders of tasks gave %d journals of an agent with %d parallel steps", len(orders), sp.parallel)
			}
		})
	}
}

// TestWorldKeepsTime lets timers and a Timeout run in the time of a world.
func TestWorldKeepsTime(t *testing.T) {
	j, w := &journal.Memory{}, &enginetest.World{}
	_, err := kernel.Run(t.Context(), kernel.Options{RunID: "r", Journal: j, World: w}, func(s *kernel.Scope, _ []byte) error {
		if err := s.Sleep("night", 8*time.Hour); err != nil {
			return err
		}
		err := s.Timeout("try", time.Hour, func(s *kernel.Scope) error { return s.Sleep("long", 2*time.Hour) })
		if !errors.Is(err, kernel.ErrTimeout) {
			t.Errorf("the timeout ended with %v", err)
		}
		if s.Now() != 9*time.Hour {
			t.Errorf("the run is at %s, want 9h", s.Now())
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestPanicsInAnotherWorldEndTheSession lets a task panic that a world performs itself.
func TestPanicsInAnotherWorldEndTheSession(t *testing.T) {
	j, w := &journal.Memory{}, &enginetest.World{}
	_, err := kernel.Run(t.Context(), kernel.Options{RunID: "r", Journal: j, World: w}, func(s *kernel.Scope, _ []byte) error {
		_, err := kernel.Do(s, kernel.Effect[int]{Name: "a", Class: journal.Read, Perform: func(context.Context, string) (int, error) { panic("boom") }})
		return err
	})
	if p, ok := errors.AsType[*kernel.PanicError](err); !ok || p.Path != "a" || p.Value != "boom" {
		t.Errorf("the session ended with %v", err)
	}
}
