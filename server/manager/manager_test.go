package manager_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/graph"
	"github.com/pexctl/pex/engine/interrupt"
	"github.com/pexctl/pex/engine/model"
	"github.com/pexctl/pex/engine/runs"
	"github.com/pexctl/pex/engine/stop"
	"github.com/pexctl/pex/server/feed"
	"github.com/pexctl/pex/server/manager"
)

// node implements engine.Node with a function.
type node func(engine.Scope) error

func (n node) Run(s engine.Scope) error { return n(s) }

// gatedModel answers once its gate, if any, lets it.
type gatedModel struct{ gate <-chan struct{} }

func (m gatedModel) Generate(ctx context.Context, _ *model.Request, _ func(model.Delta)) (*model.Reply, error) {
	if m.gate != nil {
		select {
		case <-m.gate:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	return &model.Reply{Text: "hello"}, nil
}

// world is a home and an agent.
type world struct {
	t     *testing.T
	dir   string
	node  node
	model model.Model
}

func newWorld(t *testing.T, n node) *world {
	return &world{t: t, dir: t.TempDir(), node: n, model: gatedModel{}}
}

func (w *world) program() *engine.Program {
	return &engine.Program{
		Name: "agent", Digest: "sha256:1", Source: json.RawMessage(`1`),
		Parameters: []engine.Parameter{{Name: "question"}},
		Models:     []engine.ModelSpec{{Name: "main"}},
		Graph:      &graph.Graph[engine.Condition]{Start: "a", Nodes: []graph.Node{{ID: "a", Type: "test"}}},
		Nodes:      map[string]engine.Node{"a": w.node},
		Memory:     engine.MemorySettings{Backend: "none"},
	}
}

func (w *world) host() engine.Host {
	return engine.Host{Models: map[string]model.Model{"main": w.model}}
}

func (w *world) service() *runs.Service {
	w.t.Helper()
	s, err := runs.Open(w.dir, runs.Env{
		Compile: func(engine.Start, ...string) (*engine.Program, error) { return w.program(), nil },
		Connect: func(*engine.Program, engine.Input) (engine.Host, error) { return w.host(), nil },
		Version: "test",
	})
	if err != nil {
		w.t.Fatal(err)
	}
	return s
}

// open returns a manager of the home, as the server has it after a start.
func (w *world) open(o manager.Options) *manager.Manager {
	w.t.Helper()
	o.Runs = w.service()
	if o.Slots == nil {
		o.Slots = manager.NewSlots(1000, 1000, 1000)
	}
	if o.ParkAfter == 0 {
		o.ParkAfter = time.Minute
	}
	m := manager.New(o)
	w.t.Cleanup(func() { w.close(m) })
	return m
}

func (w *world) close(m *manager.Manager) {
	if err := m.Close(context.Background()); err != nil {
		w.t.Error(err)
	}
}

var ann, bea = engine.Actor{User: "ann", Issuer: "tokens"}, engine.Actor{User: "bea", Issuer: "tokens"}

func (w *world) request(id string) runs.NewRun {
	return runs.NewRun{Program: w.program(), Host: w.host(), Input: engine.Input{
		RunID: id, Request: "request of " + id, By: &ann, Parameters: map[string]any{"question": "why?"}, Origin: &engine.Origin{},
	}}
}

func (w *world) start(m *manager.Manager, id string) {
	w.t.Helper()
	if existed, err := m.Start(w.t.Context(), w.request(id), ""); existed || err != nil {
		w.t.Fatal(existed, err)
	}
}

// watch returns the events of a run until its session ends.
func (w *world) watch(m *manager.Manager, id string, after feed.Cursor) (events []string, end string) {
	w.t.Helper()
	items, err := m.Watch(w.t.Context(), id, after, false)
	if err != nil {
		w.t.Fatal(err)
	}
	for item := range items {
		if item.Type == feed.End {
			return events, string(item.Data)
		}
		events = append(events, string(item.Data))
	}
	w.t.Fatal("the feed has no end")
	return nil, ""
}

// awaitQuestions waits until n questions of all runs are open.
func (w *world) awaitQuestions(m *manager.Manager, n int) (open []manager.OpenQuestion) {
	w.t.Helper()
	for len(open) < n && w.t.Context().Err() == nil {
		var err error
		if open, err = m.Questions(w.t.Context()); err != nil {
			w.t.Fatal(err)
		}
		time.Sleep(time.Millisecond)
	}
	return open
}

func (w *world) result(m *manager.Manager, id string) *engine.Result {
	w.t.Helper()
	m.Await(w.t.Context(), id)
	r, err := w.service().Read(id)
	if err != nil {
		w.t.Fatal(err)
	}
	return r.Show(w.t.Context())
}

// greets answers with a reply of the model.
func greets(s engine.Scope) error {
	reply, err := s.Model("greet", model.Call{LLM: "main", Role: "planner", Messages: []model.Message{{Role: model.User, Text: model.Text{"hi"}}}})
	if err == nil {
		s.Record(engine.Answered{Answer: engine.Answer{Text: reply.Text}})
	}
	return err
}

// approvals asks for two approvals at once and answers with both.
func approvals(s engine.Scope) error {
	said := make([]string, 2)
	err := s.Parallel(2, func(i int) string { return fmt.Sprint("step.", i) }, func(i int, s engine.Scope) error {
		d, err := s.Ask("approval", interrupt.Question{Kind: interrupt.Approval, Question: fmt.Sprint("May step ", i, " run?")})
		said[i] = d.Do
		return err
	})
	if err == nil {
		s.Record(engine.Answered{Answer: engine.Answer{Text: strings.Join(said, ",")}})
	}
	return err
}

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
	m := w.open(manager.Options{Slots: manager.NewSlots(1, 1, 1)})
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
	m := w.open(manager.Options{Slots: manager.NewSlots(1, 1, 1)})
	w.start(m, "r-1")
	w.start(m, "r-2")
	if err := m.Cancel(t.Context(), "r-2", bea); err != nil {
		t.Fatal(err)
	}
	close(gate)
	res := w.result(m, "r-2")
	if res.Status != stop.RunCancelled || len(res.Decisions) != 1 || *res.Decisions[0].By != bea {
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
			if before, ok := errors.AsType[*manager.DecidedError](err); !ok || *before.Decision.By != ann || before.Decision.Do != "deny" {
				t.Error(err)
			}
			if err := m.Answer(t.Context(), "r-1", manager.Answer{Path: "step.9/approval", Value: "approve"}, bea); !errors.As(err, new(*manager.NotOpenError)) {
				t.Error(err)
			}
			if err := m.Answer(t.Context(), "r-1", manager.Answer{Path: "step.0/approval", Value: "approve"}, bea); err != nil {
				t.Fatal(err)
			}
			res := w.result(m, "r-1")
			if res.Response != "approve,deny" || len(res.Decisions) != 2 || *res.Decisions[0].By != ann || *res.Decisions[1].By != bea {
				t.Errorf("%s %q %+v", res.Status, res.Response, res.Decisions)
			}
		})
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

func TestASuspendedRunContinuesAfterARestart(t *testing.T) {
	w := newWorld(t, greets)
	w.model = gatedModel{make(chan struct{})}
	m := w.open(manager.Options{Slots: manager.NewSlots(1, 1, 9)})
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
	if string(last.Data) != `{"status":"interrupted"}` {
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
