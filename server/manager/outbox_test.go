package manager_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/journal"
	"github.com/pexctl/pex/server/feed"
	"github.com/pexctl/pex/server/manager"
)

// outbox records what a manager tells it.
type outbox struct {
	fails error

	mu     sync.Mutex
	calls  []string
	events map[string][]int // numbers of the events of each run
}

func (o *outbox) note(format string, args ...any) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.calls = append(o.calls, fmt.Sprintf(format, args...))
}

func (o *outbox) Attach(_ context.Context, in engine.Input, isNew bool) (manager.Attachment, error) {
	o.note("attach %s %v", in.RunID, isNew)
	return &attachment{o, in.RunID}, o.fails
}

func (o *outbox) CatchUp(run string) { o.note("catch up %s", run) }

// has waits until a call has been made.
func (o *outbox) has(t *testing.T, call string) {
	t.Helper()
	for range 5000 {
		o.mu.Lock()
		found := slices.Contains(o.calls, call)
		o.mu.Unlock()
		if found {
			return
		}
		time.Sleep(time.Millisecond)
	}
	t.Fatalf("no %q in %q", call, o.calls)
}

type attachment struct {
	o   *outbox
	run string
}

func (a *attachment) Send(ev engine.Event) {
	a.o.mu.Lock()
	defer a.o.mu.Unlock()
	if a.o.events == nil {
		a.o.events = map[string][]int{}
	}
	a.o.events[a.run] = append(a.o.events[a.run], ev.Seq)
}

func (a *attachment) Replay(ev engine.Event) { a.Send(ev) }
func (a *attachment) Stored() error          { return nil }
func (a *attachment) Close()                 { a.o.note("close %s", a.run) }
func (a *attachment) Discard()               { a.o.note("discard %s", a.run) }

// A run is attached before it exists, for each of its sessions, and all its events are sent.
func TestRunsAreAttachedToTheOutbox(t *testing.T) {
	w, o := newWorld(t, approvals), &outbox{}
	m := w.open(manager.Options{Outbox: o, ParkAfter: time.Millisecond})
	w.start(m, "r-1")
	m.Await(t.Context(), "r-1")
	for _, path := range []string{"step.0/approval", "step.1/approval"} {
		if err := m.Answer(t.Context(), "r-1", manager.Answer{Path: path, Do: "approve"}, bea); err != nil {
			t.Fatal(err)
		}
		m.Await(t.Context(), "r-1")
	}
	live, _ := w.watch(m, "r-1", feed.Cursor{})
	o.mu.Lock()
	defer o.mu.Unlock()
	if n := strings.Count(strings.Join(o.calls, "\n"), "close r-1"); o.calls[0] != "attach r-1 true" || o.calls[1] != "close r-1" || o.calls[2] != "attach r-1 false" || n < 2 {
		t.Errorf("%q", o.calls)
	}
	sent := slices.Compact(slices.Sorted(slices.Values(o.events["r-1"])))
	if sent = slices.DeleteFunc(sent, func(n int) bool { return n == 0 }); len(sent) != len(live) {
		t.Errorf("%d events were sent, want %d", len(sent), len(live))
	}
}

// A run that cannot be attached is not started.
func TestARunThatCannotBeAttachedDoesNotExist(t *testing.T) {
	w, o := newWorld(t, greets), &outbox{fails: journal.ErrFull}
	m := w.open(manager.Options{Outbox: o})
	if _, err := m.Start(t.Context(), w.request("r-1"), ""); !errors.Is(err, journal.ErrFull) {
		t.Error(err)
	}
	if _, err := w.service().StartOf("r-1"); err == nil {
		t.Error("the run exists")
	}
	o.fails = nil
	w.start(m, "r-1")
	m.Await(t.Context(), "r-1")
	o.has(t, "close r-1")
}

// A run that ends without a session is read again.
func TestACancelledRunIsRead(t *testing.T) {
	w, o := newWorld(t, approvals), &outbox{}
	m := w.open(manager.Options{Outbox: o, ParkAfter: time.Millisecond})
	w.start(m, "r-1")
	m.Await(t.Context(), "r-1")
	if err := m.Cancel(t.Context(), "r-1", ann); err != nil {
		t.Fatal(err)
	}
	o.has(t, "catch up r-1")
}
