package manager_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/interrupt"
	"github.com/pexctl/pex/engine/journal"
	"github.com/pexctl/pex/engine/model"
	"github.com/pexctl/pex/engine/runs"
	"github.com/pexctl/pex/server/feed"
	"github.com/pexctl/pex/server/manager"
)

// listens asks a question, calls the model, and answers with the messages that it had
// before each of both and at its end.
func listens(s engine.Scope) error {
	said := ""
	note := func() {
		for _, m := range s.View().State.UserMessages {
			said += m.Text + " by " + m.By.User + ";"
		}
		said += "|"
	}
	note()
	if _, err := s.Ask("question", interrupt.Question{Kind: interrupt.User, Question: "Well?"}); err != nil {
		return err
	}
	note()
	if _, err := s.Model("call", model.Call{LLM: "main", Role: "planner", Messages: []model.Message{{Role: model.User, Text: model.Text{said}}}}); err != nil {
		return err
	}
	note()
	s.Record(engine.Answered{Answer: engine.Answer{Text: said}})
	return nil
}

func TestMessageReachesARunInEveryState(t *testing.T) {
	gate := make(chan struct{})
	w := newWorld(t, listens)
	w.model = gatedModel{gate}
	m := w.open(manager.Options{ParkAfter: time.Nanosecond, Slots: manager.NewSlots(manager.Limits{Running: 1, RunningPerTenant: 1, Waiting: 9})})
	send := func(run, id string) {
		t.Helper()
		for range 2 { // the second one changes nothing
			if err := m.Message(t.Context(), run, runs.Message{ID: id, Text: id}, ann); err != nil {
				t.Fatalf("%s to %s: %v", id, run, err)
			}
		}
	}
	w.start(m, "r-1")
	m.Await(t.Context(), "r-1")
	send("r-1", "parked")
	if open := w.awaitQuestions(m, 1); open[0].Run != "r-1" {
		t.Fatal(open)
	}
	if err := m.Answer(t.Context(), "r-1", manager.Answer{Path: "question", Value: "yes"}, ann); err != nil {
		t.Fatal(err)
	}
	w.start(m, "r-2")
	if _, queued := m.Running("r-2"); !queued {
		t.Fatal("r-2 is not queued")
	}
	send("r-2", "queued")
	send("r-1", "live")
	close(gate)
	if res := w.result(m, "r-1"); res.Response != "|parked by ann;|parked by ann;live by ann;|" {
		t.Errorf("r-1: %s %q", res.Status, res.Response)
	}
	m.Await(t.Context(), "r-2")
	if err := m.Answer(t.Context(), "r-2", manager.Answer{Path: "question", Value: "yes"}, ann); err != nil {
		t.Fatal(err)
	}
	if res := w.result(m, "r-2"); res.Response != "queued by ann;|queued by ann;|queued by ann;|" {
		t.Errorf("r-2: %s %q", res.Status, res.Response)
	}
	send("r-1", "live")
	var conflict *runs.MessageConflictError
	for run, want := range map[string]any{"r-1": new(*runs.EndedError), "r-3": new(*runs.NotFoundError)} {
		if err := m.Message(t.Context(), run, runs.Message{ID: "late", Text: "late"}, ann); !errors.As(err, want) {
			t.Errorf("message to %s: %v", run, err)
		}
	}
	if err := m.Message(t.Context(), "r-1", runs.Message{ID: "live", Text: "other"}, ann); !errors.As(err, &conflict) || conflict.ID != "live" {
		t.Error(err)
	}
	if err := m.Message(t.Context(), "r-1", runs.Message{ID: "x"}, ann); !errors.As(err, new(*runs.MessageError)) {
		t.Error(err)
	}
}

func TestMessageToARunOfAnotherProcess(t *testing.T) {
	w := newWorld(t, greets)
	m := w.open(manager.Options{})
	session, err := w.service().Start(w.request("r-1"))
	if err != nil {
		t.Fatal(err)
	}
	if err := session.Begin(); err != nil {
		t.Fatal(err)
	}
	if err := m.Message(t.Context(), "r-1", runs.Message{ID: "a", Text: "hi"}, ann); !errors.As(err, new(*journal.InUseError)) {
		t.Error(err)
	}
	if err := session.Close(); err != nil {
		t.Fatal(err)
	}
	if err := m.Message(t.Context(), "r-1", runs.Message{ID: "a", Text: "hi"}, ann); err != nil {
		t.Error(err)
	}
}

// Messages race with an answer and the end of the run: those that are acknowledged are in
// the journal, and watchers get their events, once.
func TestRacingMessagesAreStoredOnce(t *testing.T) {
	for name, park := range map[string]time.Duration{"live": time.Minute, "parked": time.Nanosecond} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, listens)
			m := w.open(manager.Options{ParkAfter: park})
			for n := range 20 {
				id := fmt.Sprint("r-", n)
				w.start(m, id)
				w.awaitQuestions(m, 1)
				var wg sync.WaitGroup
				var mu sync.Mutex
				stored := []string{}
				for k := range 6 {
					wg.Go(func() {
						msg := runs.Message{ID: fmt.Sprint("m-", k/2), Text: fmt.Sprint("text ", k/2)}
						err := m.Message(t.Context(), id, msg, ann)
						mu.Lock()
						defer mu.Unlock()
						if err == nil && !slices.Contains(stored, msg.ID) {
							stored = append(stored, msg.ID)
						} else if err != nil && !errors.As(err, new(*runs.EndedError)) {
							t.Error(err)
						}
					})
				}
				wg.Go(func() {
					if err := m.Answer(t.Context(), id, manager.Answer{Path: "question", Value: "yes"}, bea); err != nil {
						t.Error(err)
					}
				})
				wg.Wait()
				ids := []string{}
				for _, msg := range w.result(m, id).Messages {
					ids = append(ids, msg.ID)
				}
				events, _ := w.watch(m, id, feed.Cursor{})
				received := 0
				for _, ev := range events {
					if strings.Contains(ev, `"type":"message.received"`) {
						received++
					}
				}
				slices.Sort(ids)
				slices.Sort(stored)
				if !slices.Equal(ids, stored) || received != len(ids) {
					t.Errorf("%s: acknowledged %q, stored %q, %d events", id, stored, ids, received)
				}
			}
		})
	}
}
