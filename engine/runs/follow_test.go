package runs_test

import (
	"context"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/runs"
)

// events keeps the types of events.
type events struct {
	mu    sync.Mutex
	types []engine.EventType
}

func (e *events) Send(ev engine.Event) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.types = append(e.types, ev.Type)
}

func TestWhoFollowsARunHearsAllOfIt(t *testing.T) {
	w := newWorld(t, answers)
	w.model = &fakeModel{gate: make(chan struct{})}
	session := w.start(w.open(), "r-1")
	ended := make(chan error, 1)
	own, followed := &events{}, &events{}
	go func() {
		session.Run(t.Context(), runs.Observer{Sinks: []engine.Sink{own}})
		ended <- session.Close()
	}()
	w.awaitSecondCall("r-1")
	type end struct {
		res *engine.Result
		err error
	}
	over := make(chan end, 1)
	go func() {
		res, err := w.open().Follow(t.Context(), "r-1", followed)
		over <- end{res, err}
	}()
	close(w.model.gate)
	got := <-over
	if got.err != nil || got.res.Status != engine.Completed {
		t.Fatalf("%+v", got)
	}
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(own.types, followed.types); diff != "" {
		t.Error(diff)
	}
}

func TestARunThatIsFollowedMayBeLeft(t *testing.T) {
	w := newWorld(t, answers)
	w.model = &fakeModel{gate: make(chan struct{})}
	session := w.start(w.open(), "r-1")
	done := make(chan *engine.Result)
	go func() { done <- session.Run(t.Context(), runs.Observer{}) }()
	w.awaitSecondCall("r-1")
	ctx, leave := context.WithCancel(t.Context())
	leave()
	if _, err := w.open().Follow(ctx, "r-1"); err != nil {
		t.Error(err)
	}
	close(w.model.gate)
	if res := <-done; res.Status != engine.Completed {
		t.Errorf("the run that nobody follows: %s", res.Status)
	}
	if err := session.Close(); err != nil {
		t.Error(err)
	}
}
