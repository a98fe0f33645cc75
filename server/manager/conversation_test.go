package manager_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/interrupt"
	"github.com/pexctl/pex/engine/stop"
	"github.com/pexctl/pex/server/manager"
)

// A conversation executes one run at a time, also if one of them waited for an answer when the
// other one started.
func TestAnAnsweredRunWaitsForItsConversation(t *testing.T) {
	var executing, together atomic.Int32
	var ask atomic.Bool
	ask.Store(true)
	gate := make(chan struct{})
	w := newWorld(t, func(s engine.Scope) error {
		if ask.Load() {
			if d, err := s.Ask("approval", interrupt.Question{Kind: interrupt.Approval, Question: "May it?"}); err != nil || d.Do != "approve" {
				return err
			}
		}
		if executing.Add(1) > 1 {
			together.Add(1)
		}
		defer executing.Add(-1)
		return greets(s)
	})
	w.model = gatedModel{gate}
	m := w.open(manager.Options{ParkAfter: time.Nanosecond})
	begin := func(id string) {
		n := w.request(id)
		n.Input.MemoryID = "chat"
		if _, err := m.Start(t.Context(), n, ""); err != nil {
			t.Fatal(err)
		}
	}
	begin("parked")
	m.Await(t.Context(), "parked")
	ask.Store(false)
	begin("live")
	for executing.Load() == 0 {
		time.Sleep(time.Millisecond)
	}
	ask.Store(true)

	answer := manager.Answer{Path: "approval", Value: "approve"}
	soon, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	err := m.Answer(soon, "parked", answer, bea)
	if busy, ok := errors.AsType[*manager.BusyError](err); !ok || busy.Run != "live" || busy.MemoryID != "chat" {
		t.Fatal(err)
	}
	if res := w.result(m, "parked"); len(res.Interrupts) != 1 || len(res.Decisions) != 0 {
		t.Errorf("the rejected answer changed the run: %+v", res.Decisions)
	}

	answered := make(chan error, 1)
	go func() { answered <- m.Answer(t.Context(), "parked", answer, bea) }()
	for queued := false; !queued; _, queued = m.Running("parked") {
		time.Sleep(time.Millisecond)
	}
	begin("later") // which was there after the answer
	close(gate)
	if err := <-answered; err != nil {
		t.Fatal(err)
	}
	for _, id := range []string{"live", "parked"} {
		if res := w.result(m, id); res.Status != stop.RunCompleted {
			t.Errorf("%s: %s", id, res.Status)
		}
	}
	if n := together.Load(); n > 0 {
		t.Errorf("%d times two runs of the conversation executed", n)
	}
}

// The run that waits in a conversation is found in memory and on disk, and not for other agents.
func TestTheWaitingRunOfAConversation(t *testing.T) {
	for name, park := range map[string]time.Duration{"in memory": time.Hour, "on disk": time.Nanosecond} {
		w := newWorld(t, func(s engine.Scope) error {
			_, err := s.Ask("approval", interrupt.Question{Kind: interrupt.Approval, Question: "May it?"})
			return err
		})
		m := w.open(manager.Options{ParkAfter: park})
		n := w.request("waits")
		n.Input.MemoryID, n.Input.Agent = "chat", "desk"
		if _, err := m.Start(t.Context(), n, ""); err != nil {
			t.Fatal(err)
		}
		if _, ok := m.AwaitResult(t.Context(), "waits"); !ok {
			t.Fatal(name)
		}
		for of, want := range map[[2]string]string{{"desk", "chat"}: "waits", {"other", "chat"}: "", {"desk", "other"}: ""} {
			run, open, err := m.WaitingIn(t.Context(), of[0], of[1])
			if run != want || err != nil || len(open) != len(want)/5 {
				t.Errorf("%s: %v: %q %v %v", name, of, run, open, err)
			}
		}
		if err := m.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
		next := w.open(manager.Options{ParkAfter: park})
		if _, err := next.Recover(t.Context()); err != nil {
			t.Fatal(err)
		}
		next.AwaitResult(t.Context(), "waits")
		if run, _, err := next.WaitingIn(t.Context(), "desk", "chat"); run != "waits" || err != nil {
			t.Errorf("%s, after a restart: %q %v", name, run, err)
		}
	}
}
