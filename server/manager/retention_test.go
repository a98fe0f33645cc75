package manager_test

import (
	"context"
	"errors"
	"os"
	"testing"
	"time"

	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/runs"
	"github.com/pexctl/pex/server/manager"
)

// Runs that ended long ago are removed, but none that waits, that a run replays, or that a
// client has touched since.
func TestOldRunsAreRemoved(t *testing.T) {
	ask := false
	w := newWorld(t, func(s engine.Scope) error {
		if ask {
			return approvals(s)
		}
		return greets(s)
	})
	m := w.open(manager.Options{ParkAfter: time.Nanosecond})
	for _, id := range []string{"old", "young", "replayed"} {
		w.start(m, id)
		m.Await(t.Context(), id)
	}
	ask = true
	w.start(m, "waits")
	m.Await(t.Context(), "waits")
	fork := w.request("fork")
	fork.Input.From = &engine.Source{Run: "replayed"}
	if _, err := m.Start(t.Context(), fork, ""); err != nil {
		t.Fatal(err)
	}
	m.Await(t.Context(), "fork")
	before := time.Now().Add(-24 * time.Hour)
	for _, id := range []string{"old", "replayed", "waits"} {
		if err := os.Chtimes(w.service().Home().File(id), before, before); err != nil {
			t.Fatal(err)
		}
	}
	time.Sleep(time.Millisecond)
	for range 2 { // the second time, nothing is left to do
		if _, err := m.RemoveEnded(t.Context(), time.Now().Add(-time.Hour)); err != nil {
			t.Fatal(err)
		}
	}
	for id, want := range map[string]bool{"old": true, "young": true, "replayed": true, "waits": true} {
		_, err := w.service().StartOf(id)
		if exists := !errors.As(err, new(*runs.NotFoundError)); exists != want {
			t.Errorf("%s: exists is %v: all of them started less than an hour ago", id, exists)
		}
	}
	n, err := m.RemoveEnded(t.Context(), time.Now())
	if err != nil {
		t.Fatal(err)
	}
	for id, want := range map[string]bool{"old": false, "young": false, "replayed": true, "waits": true, "fork": true} {
		_, err := w.service().StartOf(id)
		if exists := !errors.As(err, new(*runs.NotFoundError)); exists != want {
			t.Errorf("%s: exists is %v", id, exists)
		}
	}
	if n != 2 {
		t.Errorf("%d runs removed", n)
	}
}

// attachHook is an outbox that calls a function before each session.
type attachHook func()

func (f attachHook) Attach(context.Context, engine.Input, bool) (manager.Attachment, error) {
	f()
	return &attachment{o: &outbox{}}, nil
}

func (f attachHook) CatchUp(string) {}

// A run is not removed while a run that replays it is about to be stored.
func TestTheRunOfANewForkIsKept(t *testing.T) {
	w := newWorld(t, greets)
	m := w.open(manager.Options{})
	for _, id := range []string{"old", "parent"} {
		w.start(m, id)
		m.Await(t.Context(), id)
	}
	var removed int
	remove := attachHook(func() {
		var err error
		if removed, err = m.RemoveEnded(t.Context(), time.Now().Add(time.Hour)); err != nil {
			t.Error(err)
		}
	})
	m = w.open(manager.Options{Outbox: remove})
	fork := func(id, from string) error {
		n := w.request(id)
		n.Input.From = &engine.Source{Run: from}
		_, err := m.Start(t.Context(), n, "")
		return err
	}
	if err := fork("fork", "parent"); err != nil {
		t.Fatal(err)
	}
	if removed != 1 {
		t.Errorf("%d runs were removed", removed)
	}
	if _, err := w.service().StartOf("parent"); err != nil {
		t.Error(err)
	}
	if err := fork("late", "old"); !errors.As(err, new(*runs.NotFoundError)) {
		t.Error("a fork of a run that was removed:", err)
	}
	m.Await(t.Context(), "fork")
	if n, err := m.RemoveEnded(t.Context(), time.Now().Add(time.Hour)); n != 2 || err != nil {
		t.Errorf("%d runs were removed, want both: %v", n, err)
	}
}
