package manager_test

import (
	"fmt"
	"maps"
	"testing"
	"time"

	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/interrupt"
	"github.com/pexctl/pex/server/manager"
)

// Each limit that refuses a run is reported, with its key.
func TestRefusalsAreReported(t *testing.T) {
	gate := make(chan struct{})
	w := costly(t, greets, gate)
	refused := map[string]int{}
	count := func(limit string) { refused[limit]++ }
	start := func(m *manager.Manager, id string, most float64, ok bool) {
		t.Helper()
		if _, err := m.Start(t.Context(), w.limited(id, most), ""); (err == nil) != ok {
			t.Errorf("%s: %v", id, err)
		}
	}
	m := w.open(manager.Options{CostPerDay: 10, Refused: count, Slots: manager.NewSlots(manager.Limits{Running: 1, Waiting: 1})})
	start(m, "r-1", 4, true)
	start(m, "r-2", 1, true) // it waits
	start(m, "r-3", 11, false)
	start(m, "r-4", 9, false)
	start(m, "r-5", 1, false)
	m = w.open(manager.Options{Refused: count, Slots: manager.NewSlots(manager.Limits{PerMinutePerTenant: 1})})
	start(m, "r-6", 1, true)
	start(m, "r-7", 1, false)
	if want := map[string]int{"max_cost": 1, "cost_per_day": 1, "queued_runs": 1, "runs_per_minute": 1}; !maps.Equal(refused, want) {
		t.Error(refused)
	}
	close(gate)
}

// Open questions count while their run waits in memory and on disk, also after a restart, until
// they are answered.
func TestOpenQuestionsAreCounted(t *testing.T) {
	w := newWorld(t, func(s engine.Scope) error {
		_, err := s.Ask("approval", interrupt.Question{Kind: interrupt.Approval, Question: "May it?"})
		return err
	})
	check := func(when string, m *manager.Manager, want int) {
		t.Helper()
		if n := m.CountQuestions(t.Context()); n != want {
			t.Errorf("%s: %d open questions, want %d", when, n, want)
		}
	}
	m := w.open(manager.Options{ParkAfter: time.Millisecond})
	check("without runs", m, 0)
	w.start(m, "r-1")
	w.start(m, "r-2")
	m.Await(t.Context(), "r-1")
	m.Await(t.Context(), "r-2")
	check("on disk", m, 2)
	w.close(m)
	m = w.open(manager.Options{ParkAfter: time.Hour})
	check("after a restart", m, 2)
	w.start(m, "r-3")
	w.awaitQuestions(m, 3)
	check("in memory, too", m, 3)
	for n, run := range []string{"r-1", "r-3"} {
		if err := m.Answer(t.Context(), run, manager.Answer{Path: "approval", Value: "approve"}, ann); err != nil {
			t.Fatal(err)
		}
		m.Await(t.Context(), run)
		check("after an answer", m, 2-n)
	}
}

// BenchmarkCountQuestions counts the questions of 1,000 runs that wait in memory, and of 1,000 that
// wait on disk, of which one has just changed.
func BenchmarkCountQuestions(b *testing.B) {
	for name, park := range map[string]time.Duration{"in memory": time.Hour, "on disk": time.Nanosecond} {
		b.Run(name, func(b *testing.B) {
			w := &world{t: b, dir: b.TempDir(), model: gatedModel{}, node: func(s engine.Scope) error {
				_, err := s.Ask("approval", interrupt.Question{Kind: interrupt.Approval, Question: "May it?"})
				return err
			}}
			m := w.open(manager.Options{ParkAfter: park})
			const runs = 1000
			for i := range runs {
				w.start(m, fmt.Sprint("r-", i))
			}
			for m.CountQuestions(b.Context()) < runs {
				time.Sleep(time.Millisecond)
			}
			for b.Loop() {
				m.CountQuestions(b.Context())
			}
		})
	}
}
