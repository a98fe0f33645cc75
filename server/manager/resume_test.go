package manager_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/model"
	"github.com/pexctl/pex/engine/runs"
	"github.com/pexctl/pex/engine/stop"
	"github.com/pexctl/pex/server/feed"
	"github.com/pexctl/pex/server/manager"
)

// callsTwice calls the model twice.
func callsTwice(s engine.Scope) error {
	for _, path := range []string{"first", "second"} {
		reply, err := s.Model(path, model.Call{LLM: "main", Role: "planner", Messages: []model.Message{{Role: model.User, Text: model.Text{"hi"}}}})
		if err != nil {
			return err
		}
		s.Record(engine.Answered{Answer: engine.Answer{Text: reply.Text}})
	}
	return nil
}

// stopped returns a world with runs that stopped at limits.max_cost after a call, and a
// manager with a slot and a queue for one run.
func stopped(t *testing.T, ids ...string) (*world, *manager.Manager, chan<- struct{}) {
	w := costly(t, callsTwice, nil)
	m := w.open(manager.Options{
		CostPerDay: 100, Slots: manager.NewSlots(manager.Limits{Running: 1, RunningPerTenant: 1, Waiting: 1}),
	})
	for _, id := range ids {
		if _, err := m.Start(t.Context(), w.limited(id, 3), ""); err != nil {
			t.Fatal(err)
		}
		if res := w.result(m, id); res.StopReason.Code != stop.BudgetCost {
			t.Fatalf("%s: %+v", id, res.StopReason)
		}
	}
	gate := make(chan struct{})
	w.model = pricedModel{gatedModel{gate}}
	if _, err := m.Start(t.Context(), w.limited("live", 9), ""); err != nil {
		t.Fatal(err)
	}
	for queued := true; queued; _, queued = m.Running("live") { // the run before it has ended, but leaves its slot a moment later
		time.Sleep(time.Millisecond)
	}
	return w, m, gate
}

// A stopped run that a client resumes takes its turn, as a new run does.
func TestAResumedRunIsQueued(t *testing.T) {
	w, m, gate := stopped(t, "r-1", "r-2")
	resume := func(run, limit string) error {
		return m.Resume(t.Context(), run, []string{"limits.max_cost=" + limit}, true, ann)
	}
	if err := resume("r-1", "2"); err == nil {
		t.Error("a lower limit was accepted")
	}
	if err := resume("r-1", "9"); err != nil {
		t.Fatal(err)
	}
	if _, queued := m.Running("r-1"); !queued {
		t.Error("it is not queued")
	}
	w.usage(m, 4, 18)
	if err := resume("r-2", "9"); !errors.Is(err, manager.ErrQueueFull) {
		t.Error(err)
	}
	if err := resume("r-1", "9"); !errors.Is(err, manager.ErrQueueFull) && !errors.As(err, new(*manager.RunningError)) {
		t.Error("again:", err)
	}
	if running, queued := m.Load(); running != 1 || queued != 1 {
		t.Errorf("%d runs execute, %d are queued", running, queued)
	}
	close(gate)
	if res := w.result(m, "r-1"); res.Status != stop.RunCompleted {
		t.Errorf("%s %+v", res.Status, res.StopReason)
	}
}

// Who cancels a queued run that was stopped before leaves it stopped.
func TestAQueuedResumptionIsCancelled(t *testing.T) {
	w, m, gate := stopped(t, "r-1")
	defer close(gate)
	if err := m.Resume(t.Context(), "r-1", []string{"limits.max_cost=9"}, true, ann); err != nil {
		t.Fatal(err)
	}
	if err := m.Cancel(t.Context(), "r-1", bea); err != nil {
		t.Fatal(err)
	}
	if res := w.result(m, "r-1"); res.Status != stop.RunStopped || res.StopReason.Code != stop.BudgetCost {
		t.Errorf("%s %+v", res.Status, res.StopReason)
	}
	w.usage(m, 2, 9)
	if err := m.Cancel(t.Context(), "r-1", bea); !errors.As(err, new(*runs.EndedError)) {
		t.Error("it has ended:", err)
	}
}

// The server stops before the turn of a resumed run: one that was suspended continues at the
// next start, one that a limit had stopped stays as it is.
func TestQueuedResumptionsEndWithTheServer(t *testing.T) {
	for id, want := range map[string]stop.RunStatus{"suspended": stop.RunCompleted, "stopped": stop.RunStopped} {
		w, m, _ := stopped(t, "stopped")
		var set []string
		if id == "stopped" {
			set = []string{"limits.max_cost=9"}
		} else {
			session, err := w.service().Start(w.limited(id, 9))
			if err == nil {
				err = errors.Join(session.Begin(), session.Close())
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		if err := m.Resume(t.Context(), id, set, true, ann); err != nil {
			t.Fatal(err)
		}
		w.close(m)
		w.model = pricedModel{}
		m = w.open(manager.Options{CostPerDay: 100})
		if _, err := m.Recover(t.Context()); err != nil {
			t.Fatal(err)
		}
		if res := w.result(m, id); res.Status != want {
			t.Errorf("%s: %s %+v", id, res.Status, res.StopReason)
		}
	}
}

// announcedModel is a gatedModel that says when it is called.
type announcedModel struct {
	gatedModel
	called chan<- struct{}
}

func (m announcedModel) Generate(ctx context.Context, r *model.Request, delta func(model.Delta)) (*model.Reply, error) {
	m.called <- struct{}{}
	return m.gatedModel.Generate(ctx, r, delta)
}

// An answer to a queued run is not queued.
func TestAnAnswerContinuesAQueuedRun(t *testing.T) {
	w := newWorld(t, approvals)
	gate := make(chan struct{})
	m := w.open(manager.Options{ParkAfter: 1, Slots: manager.NewSlots(manager.Limits{Running: 1, Waiting: 1})})
	w.start(m, "r-1")
	m.Await(t.Context(), "r-1")
	called := make(chan struct{}, 1)
	w.node, w.model = greets, announcedModel{gatedModel{gate}, called}
	w.start(m, "live")
	<-called // nothing of it reads the node any more
	w.node = approvals
	if err := m.Resume(t.Context(), "r-1", nil, true, ann); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{"step.0/approval", "step.1/approval"} {
		if err := m.Answer(t.Context(), "r-1", manager.Answer{Path: path, Value: "approve"}, bea); err != nil {
			t.Fatal(path, err)
		}
	}
	if res := w.result(m, "r-1"); res.Status != stop.RunCompleted {
		t.Errorf("%s %+v", res.Status, res.StopReason)
	}
	close(gate)
	items, err := m.Watch(context.WithoutCancel(t.Context()), "r-1", feed.Cursor{}, false)
	if err != nil {
		t.Fatal(err)
	}
	for item := range items {
		if item.Type == feed.End && string(item.Data) != `{"status":"completed"}` {
			t.Error(string(item.Data))
		}
	}
}
