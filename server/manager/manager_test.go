package manager_test

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/runs"
	"github.com/pexctl/pex/engine/stop"
	"github.com/pexctl/pex/server/feed"
	"github.com/pexctl/pex/server/manager"
)

func TestARunOutlivesItsClient(t *testing.T) {
	gate := make(chan struct{})
	w := newWorld(t, greets)
	w.model = gatedModel{gate}
	m := w.open(manager.Options{})
	ctx, leave := context.WithCancel(t.Context())
	if _, err := m.Start(ctx, w.request("r-1"), ""); err != nil {
		t.Fatal(err)
	}
	leave()
	close(gate)
	events, end := w.watch(m, "r-1", feed.Cursor{})
	if end != `{"status":"completed"}` || !strings.Contains(events[0], "run.started") || !strings.Contains(events[len(events)-1], "run.completed") {
		t.Errorf("%s\n%s", strings.Join(events, "\n"), end)
	}
	if res := w.result(m, "r-1"); res.Status != stop.RunCompleted || res.Response != "hello" {
		t.Errorf("%s %q", res.Status, res.Response)
	}
}

// The events of a run are the same live, from its journal, and joined at any cursor.
func TestEventsAreTheSameForEveryWatcher(t *testing.T) {
	w := newWorld(t, greets)
	m := w.open(manager.Options{})
	w.start(m, "r-1")
	live, _ := w.watch(m, "r-1", feed.Cursor{})
	m.Await(t.Context(), "r-1")
	for seq := range len(live) + 1 {
		again, end := w.watch(m, "r-1", feed.Cursor{Seq: seq})
		if strings.Join(again, "\n") != strings.Join(live[seq:], "\n") || end != `{"status":"completed"}` {
			t.Errorf("after %d: %s %s\nlive: %s", seq, again, end, live)
		}
	}
}

func TestRequestsWithOneIDStartOneRun(t *testing.T) {
	w := newWorld(t, greets)
	m := w.open(manager.Options{})
	var wg sync.WaitGroup
	var mu sync.Mutex
	started := 0
	for range 64 {
		wg.Go(func() {
			existed, err := m.Start(t.Context(), w.request("r-1"), "")
			if err != nil {
				t.Error(err)
			}
			mu.Lock()
			defer mu.Unlock()
			if !existed {
				started++
			}
		})
	}
	wg.Wait()
	if started != 1 {
		t.Errorf("%d runs started", started)
	}
	other := w.request("r-1")
	other.Input.Request = "another"
	if _, err := m.Start(t.Context(), other, ""); !errors.As(err, new(*manager.MismatchError)) {
		t.Error(err)
	}
}

func TestRunsWaitForTheirTurn(t *testing.T) {
	gate := make(chan struct{})
	w := newWorld(t, greets)
	w.model = gatedModel{gate}
	m := w.open(manager.Options{Slots: manager.NewSlots(manager.Limits{Running: 1, RunningPerTenant: 1, Waiting: 1})})
	w.start(m, "r-1")
	w.start(m, "r-2")
	if _, queued := m.Running("r-2"); !queued {
		t.Error("the second run is not queued")
	}
	if _, err := m.Start(t.Context(), w.request("r-3"), ""); !errors.Is(err, manager.ErrQueueFull) {
		t.Error(err)
	}
	if _, err := w.service().Read("r-3"); !errors.As(err, new(*runs.NotFoundError)) {
		t.Error("the rejected run exists:", err)
	}
	close(gate)
	if _, end := w.watch(m, "r-2", feed.Cursor{}); end != `{"status":"completed"}` {
		t.Error(end)
	}
}

func TestAQueuedRunIsCancelled(t *testing.T) {
	gate := make(chan struct{})
	w := newWorld(t, greets)
	w.model = gatedModel{gate}
	m := w.open(manager.Options{Slots: manager.NewSlots(manager.Limits{Running: 1, RunningPerTenant: 1, Waiting: 1})})
	w.start(m, "r-1")
	w.start(m, "r-2")
	if err := m.Cancel(t.Context(), "r-2", bea); err != nil {
		t.Fatal(err)
	}
	res := w.result(m, "r-2") // the first run still executes
	w.start(m, "r-3")         // has its place in the queue
	close(gate)
	if res.Status != stop.RunCancelled || len(res.Decisions) != 1 || !res.Decisions[0].By.Same(bea) {
		t.Errorf("%s %+v", res.Status, res.Decisions)
	}
	if err := m.Cancel(t.Context(), "r-2", bea); !errors.As(err, new(*runs.EndedError)) {
		t.Error(err)
	}
}

func TestABusyConversation(t *testing.T) {
	for busy, want := range map[manager.OnBusy]stop.RunStatus{manager.WaitBusy: stop.RunCompleted, manager.RejectBusy: stop.RunCompleted, manager.CancelBusy: stop.RunCancelled} {
		t.Run(string(busy), func(t *testing.T) {
			gate := make(chan struct{})
			w := newWorld(t, greets)
			w.model = gatedModel{gate}
			m := w.open(manager.Options{})
			first, second := w.request("r-1"), w.request("r-2")
			first.Input.MemoryID, second.Input.MemoryID = "chat", "chat"
			if _, err := m.Start(t.Context(), first, busy); err != nil {
				t.Fatal(err)
			}
			_, err := m.Start(t.Context(), second, busy)
			if rejected := errors.As(err, new(*manager.BusyError)); rejected != (busy == manager.RejectBusy) || err != nil && !rejected {
				t.Fatal(err)
			}
			if _, queued := m.Running("r-2"); busy == manager.WaitBusy && !queued {
				t.Error("two runs of a conversation execute at once")
			}
			if busy == manager.CancelBusy {
				m.Await(t.Context(), "r-1")
			}
			close(gate)
			if res := w.result(m, "r-1"); res.Status != want {
				t.Error("first:", res.Status)
			}
			if busy != manager.RejectBusy {
				if res := w.result(m, "r-2"); res.Status != stop.RunCompleted {
					t.Error("second:", res.Status)
				}
			}
		})
	}
}

func TestASuspendedRunContinuesAfterARestart(t *testing.T) {
	w := newWorld(t, greets)
	w.model = gatedModel{make(chan struct{})}
	m := w.open(manager.Options{Slots: manager.NewSlots(manager.Limits{Running: 1, RunningPerTenant: 1, Waiting: 9})})
	w.start(m, "r-1")
	w.start(m, "r-2") // queued
	items, err := m.Watch(t.Context(), "r-1", feed.Cursor{}, false)
	if err != nil {
		t.Fatal(err)
	}
	w.close(m)
	last := feed.Item{}
	for item := range items {
		last = item
	}
	if string(last.Data) != `{"status":"suspended"}` {
		t.Errorf("%s", last.Data)
	}
	if _, err := m.Start(t.Context(), w.request("r-3"), ""); !errors.Is(err, manager.ErrClosing) {
		t.Error(err)
	}
	w.model = gatedModel{}
	m = w.open(manager.Options{})
	if n, err := m.Recover(t.Context()); n != 2 || err != nil {
		t.Fatal(n, err)
	}
	for _, id := range []string{"r-1", "r-2"} {
		if res := w.result(m, id); res.Status != stop.RunCompleted {
			t.Error(id, res.Status)
		}
	}
}

// A copy of the home made during a call equals the home after a crash.
func TestACrashedRunContinuesWithTheSameEvents(t *testing.T) {
	gate := make(chan struct{})
	w := newWorld(t, greets)
	w.model = gatedModel{gate}
	m := w.open(manager.Options{})
	w.start(m, "r-1")
	items, err := m.Watch(t.Context(), "r-1", feed.Cursor{}, false)
	if err != nil {
		t.Fatal(err)
	}
	var before []string
	crashed := *w
	crashed.dir = t.TempDir()
	for item := range items {
		before = append(before, string(item.Data))
		if item.Type == string(engine.ModelStarted) {
			break
		}
	}
	if err := os.CopyFS(crashed.dir, os.DirFS(w.dir)); err != nil {
		t.Fatal(err)
	}
	close(gate)
	again := crashed.open(manager.Options{})
	if n, err := again.Recover(t.Context()); n != 1 || err != nil {
		t.Fatal(n, err)
	}
	rest, end := crashed.watch(again, "r-1", feed.Cursor{Seq: len(before)})
	all, _ := crashed.watch(again, "r-1", feed.Cursor{})
	if strings.Join(append(before, rest...), "\n") != strings.Join(all, "\n") || end != `{"status":"completed"}` {
		t.Errorf("before:\n%s\nafter:\n%s\nall:\n%s\n%s", before, rest, all, end)
	}
}

// Runs that a command started, and runs that wait, are left alone.
func TestRecoverLeavesOtherRunsAlone(t *testing.T) {
	w := newWorld(t, approvals)
	m := w.open(manager.Options{ParkAfter: time.Nanosecond})
	w.start(m, "waits")
	m.Await(t.Context(), "waits")
	n := w.request("of-a-command")
	n.Input.By = nil
	session, err := w.service().Start(n)
	if err == nil {
		err = errors.Join(session.Begin(), session.Close())
	}
	if err != nil {
		t.Fatal(err)
	}
	if n, err := w.open(manager.Options{}).Recover(t.Context()); n != 0 || err != nil {
		t.Error(n, err)
	}
}

// A run that a client starts, or removes, while the server recovers does not keep the others
// from continuing.
func TestRecoverContinuesBesideNewRuns(t *testing.T) {
	w := newWorld(t, greets)
	m := w.open(manager.Options{})
	for _, id := range []string{"r-1", "r-2", "r-3"} {
		session, err := w.service().Start(w.request(id))
		if err == nil {
			err = errors.Join(session.Begin(), session.Close())
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	gate := make(chan struct{})
	w.model = gatedModel{gate}
	if err := m.Resume(t.Context(), "r-1", nil, true, ann); err != nil { // is active when Recover finds it
		t.Fatal(err)
	}
	if n, err := m.Recover(t.Context()); n != 2 || err != nil {
		t.Error(n, err)
	}
	close(gate)
	for _, id := range []string{"r-1", "r-2", "r-3"} {
		if res := w.result(m, id); res.Status != stop.RunCompleted {
			t.Error(id, res.Status)
		}
	}
}

// A confirmed request to cancel a run survives a crash.
func TestRecoverCancels(t *testing.T) {
	w := newWorld(t, approvals)
	m := w.open(manager.Options{ParkAfter: time.Nanosecond})
	w.start(m, "r-1")
	m.Await(t.Context(), "r-1")
	who, err := json.Marshal(bea)
	if err == nil {
		err = w.service().Home().RequestCancel("r-1", who)
	}
	if err != nil {
		t.Fatal(err)
	}
	again := w.open(manager.Options{})
	if n, err := again.Recover(t.Context()); n != 0 || err != nil {
		t.Error(n, err)
	}
	res := w.result(again, "r-1")
	for ; res.Status != stop.RunCancelled && t.Context().Err() == nil; res = w.result(again, "r-1") {
		time.Sleep(time.Millisecond)
	}
	if len(res.Decisions) != 1 || !res.Decisions[0].By.Same(bea) {
		t.Error(res.Status, res.Decisions)
	}
}

// A request to cancel a run that was removed does not cancel another one with its id.
func TestACancelRequestEndsWithItsRun(t *testing.T) {
	w := newWorld(t, greets)
	if err := w.service().Home().RequestCancel("r-1", []byte(`{}`)); err != nil {
		t.Fatal(err)
	}
	m := w.open(manager.Options{})
	w.start(m, "r-1")
	if res := w.result(m, "r-1"); res.Status != stop.RunCompleted {
		t.Error(res.Status)
	}
}

// One agent does not cancel the runs of others, and a waiting run counts as one.
func TestABusyConversationOfTwoAgents(t *testing.T) {
	w := newWorld(t, approvals)
	m := w.open(manager.Options{ParkAfter: time.Nanosecond})
	start := func(id, agent string, busy manager.OnBusy) error {
		n := w.request(id)
		n.Input.MemoryID, n.Input.Agent = "chat", agent
		_, err := m.Start(t.Context(), n, busy)
		m.Await(t.Context(), id)
		return err
	}
	if err := start("r-1", "a", ""); err != nil {
		t.Fatal(err)
	}
	if err := start("r-2", "a", manager.RejectBusy); !errors.As(err, new(*manager.BusyError)) {
		t.Error(err)
	}
	if err := start("r-3", "b", manager.CancelBusy); err != nil {
		t.Error(err)
	}
	if res := w.result(m, "r-1"); res.Status != stop.RunInterrupted {
		t.Error("cancelled by another agent:", res.Status)
	}
}
