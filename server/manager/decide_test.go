package manager_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/interrupt"
	"github.com/pexctl/pex/engine/runs"
	"github.com/pexctl/pex/engine/stop"
	"github.com/pexctl/pex/server/manager"
)

func TestOpenQuestionsAreAnsweredInAnyOrder(t *testing.T) {
	for name, park := range map[string]time.Duration{"live": time.Minute, "parked": time.Nanosecond} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, approvals)
			m := w.open(manager.Options{ParkAfter: park})
			w.start(m, "r-1")
			if name == "parked" {
				if res := w.result(m, "r-1"); res.Status != stop.RunInterrupted {
					t.Fatal(res.Status)
				}
			}
			open := w.awaitQuestions(m, 2)
			if open[0].Open.Path != "step.0/approval" || open[1].Open.Path != "step.1/approval" {
				t.Fatal(open)
			}
			if err := m.Answer(t.Context(), "r-1", manager.Answer{Path: "step.1/approval", Value: "deny: no", Digest: manager.Digest(open[0].Open)}, ann); !errors.As(err, new(*manager.ChangedError)) {
				t.Error(err)
			}
			if err := m.Answer(t.Context(), "r-1", manager.Answer{Path: "step.1/approval", Value: "perhaps"}, ann); !errors.As(err, new(*runs.AnswerError)) {
				t.Error(err)
			}
			if err := m.Answer(t.Context(), "r-1", manager.Answer{Path: "step.1/approval", Value: "deny: no", Digest: manager.Digest(open[1].Open)}, ann); err != nil {
				t.Fatal(err)
			}
			err := m.Answer(t.Context(), "r-1", manager.Answer{Path: "step.1/approval", Value: "approve"}, bea)
			if before, ok := errors.AsType[*manager.DecidedError](err); !ok || !before.Decision.By.Same(ann) || before.Decision.Do != "deny" {
				t.Error(err)
			}
			if err := m.Answer(t.Context(), "r-1", manager.Answer{Path: "step.9/approval", Value: "approve"}, bea); !errors.As(err, new(*manager.NotOpenError)) {
				t.Error(err)
			}
			if err := m.Answer(t.Context(), "r-1", manager.Answer{Path: "step.0/approval", Value: "approve"}, bea); err != nil {
				t.Fatal(err)
			}
			res := w.result(m, "r-1")
			if res.Response != "approve,deny" || len(res.Decisions) != 2 || !res.Decisions[0].By.Same(ann) || !res.Decisions[1].By.Same(bea) {
				t.Errorf("%s %q %+v", res.Status, res.Response, res.Decisions)
			}
		})
	}
}

// A client that waits for a result learns of a question at once, not when the run leaves the memory.
func TestAQuestionIsAResult(t *testing.T) {
	w := newWorld(t, approvals)
	m := w.open(manager.Options{ParkAfter: time.Hour})
	w.start(m, "r-1")
	for _, path := range []string{"step.0/approval", "step.1/approval"} {
		if _, ok := m.AwaitResult(t.Context(), "r-1"); !ok {
			t.Fatal("no question")
		}
		if active, _ := m.Running("r-1"); !active {
			t.Error("the run has left the memory")
		}
		w.awaitQuestions(m, 1)
		if err := m.Answer(t.Context(), "r-1", manager.Answer{Path: path, Value: "approve"}, ann); err != nil {
			t.Fatal(err)
		}
	}
	m.Await(t.Context(), "r-1")
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, ok := m.AwaitResult(ended, "r-1"); !ok {
		t.Error("the run has ended")
	}
}

// Of answers and a cancellation that race, the first counts, and each decision has its author.
func TestOneDecisionWins(t *testing.T) {
	for name, park := range map[string]time.Duration{"live": time.Minute, "parked": time.Nanosecond} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, func(s engine.Scope) error {
				d, err := s.Ask("approval", interrupt.Question{Kind: interrupt.Approval, Question: "May it run?"})
				if err == nil {
					s.Record(engine.Answered{Answer: engine.Answer{Text: d.Do}})
				}
				return err
			})
			m := w.open(manager.Options{ParkAfter: park})
			for n := range 20 {
				id := fmt.Sprint("r-", n)
				w.start(m, id)
				if name == "parked" {
					m.Await(t.Context(), id)
				}
				w.awaitQuestions(m, 1)
				won := race(t, m, id)
				res := w.result(m, id)
				answered := 0
				for _, d := range res.Decisions {
					if d.Path != "" {
						answered++
						if d.By.User != d.Do {
							t.Errorf("%s by %s", d.Do, d.By)
						}
					}
				}
				if won > 1 || answered != won {
					t.Errorf("%d answers were accepted, %d are in the journal: %+v", won, answered, res.Decisions)
				}
				if won == 0 && res.Status != stop.RunCancelled {
					t.Errorf("%s without a decision", res.Status)
				}
			}
		})
	}
}

// race approves, denies and cancels a run at once, and returns how many answers counted.
func race(t *testing.T, m *manager.Manager, id string) (won int) {
	var wg sync.WaitGroup
	var mu sync.Mutex
	for _, do := range []string{"approve", "deny"} {
		wg.Go(func() {
			err := m.Answer(t.Context(), id, manager.Answer{Path: "approval", Value: do}, engine.Actor{User: do})
			if err == nil {
				mu.Lock()
				won++
				mu.Unlock()
			} else if !errors.As(err, new(*manager.DecidedError)) && !errors.As(err, new(*manager.NotOpenError)) {
				t.Error(err)
			}
		})
	}
	wg.Go(func() {
		if err := m.Cancel(t.Context(), id, engine.Actor{User: "cancel"}); err != nil && !errors.As(err, new(*runs.EndedError)) {
			t.Error(err)
		}
	})
	wg.Wait()
	return won
}
