package apitest_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/internal/app/apiclient"
	"github.com/pexctl/pex/server"
)

// Clients send messages to a session side by side, each twice, while its runs end. Each message is
// the question of one run, or was received by one run. A watcher whose connection breaks again and
// again sees the events that a late one sees.
func TestMessagesToASessionAreDeliveredOnce(t *testing.T) {
	l := listen(t, "bad-input", roomy, server.Options{}, unchanged)
	c, err := apiclient.New(apiclient.Settings{URL: l.scheme + "://" + l.address, Token: token("ann")})
	if err != nil {
		t.Fatal(err)
	}
	const senders, each = 5, 6
	first, err := c.Say(t.Context(), "chat", apiclient.SessionMessage{ID: "first", Agent: "hello", Text: "text of first"})
	if err != nil || !first.Started {
		t.Fatal(first, err)
	}
	deliveries := map[string]apiclient.SessionDelivery{"first": first}
	var mu sync.Mutex
	var sending sync.WaitGroup
	for i := range senders {
		for range 2 {
			sending.Go(func() {
				for n := range each {
					m := apiclient.SessionMessage{ID: fmt.Sprintf("m-%d-%d", i, n), Agent: "hello", Interrupt: n%2 == 0}
					m.Text = "text of " + m.ID
					d, err := c.Say(t.Context(), "chat", m)
					if err != nil {
						t.Error(err)
						return
					}
					mu.Lock()
					if was, ok := deliveries[m.ID]; ok && was != d {
						t.Errorf("message %s was delivered as %+v and %+v", m.ID, was, d)
					}
					deliveries[m.ID] = d
					mu.Unlock()
				}
			})
		}
	}
	live := make(chan []string)
	go func() { live <- watchSession(t, c, 7) }()
	sending.Wait()
	if len(deliveries) != senders*each+1 {
		t.Fatalf("%d deliveries", len(deliveries))
	}
	last, err := c.Say(t.Context(), "chat", apiclient.SessionMessage{ID: "last", Text: "text of last"})
	if err != nil {
		t.Fatal(err)
	}
	deliveries["last"] = last
	l.await(last.Run)
	s, err := c.Session(t.Context(), "chat", "")
	if err != nil || s.Active != "" || s.Agent != "hello" {
		t.Fatalf("%+v, %v", s, err)
	}
	found := map[string]apiclient.SessionDelivery{}
	for _, turn := range s.Turns {
		id := strings.TrimPrefix(turn.Question, "text of ")
		found[id] = apiclient.SessionDelivery{ID: id, Run: turn.Run, Started: true}
		var res engine.Result
		body := l.world.do("ann", "GET", "/v1/runs/"+turn.Run, nil, "").Body.Bytes()
		if err := json.Unmarshal(body, &res); err != nil {
			t.Fatal(err)
		}
		for _, m := range res.Messages {
			if was, twice := found[m.ID]; twice {
				t.Errorf("message %s is in %s and in run %s", m.ID, was.Run, turn.Run)
			}
			found[m.ID] = apiclient.SessionDelivery{ID: m.ID, Run: turn.Run}
		}
	}
	if d := cmp.Diff(deliveries, found); d != "" {
		t.Errorf("the responses and the runs differ:\n%s", d)
	}
	if d := cmp.Diff(watchSession(t, c, 1<<20), <-live); d != "" {
		t.Errorf("the watchers saw different events (-late +live):\n%s", d)
	}
}

// watchSession returns the numbered events of the session chat, up to the end of the run that the
// message "last" reached. Its connection breaks after every few of them.
func watchSession(t *testing.T, c *apiclient.Client, every int) (events []string) {
	last, ended := "", false
	w := &apiclient.SessionWatcher{}
	for !ended && t.Context().Err() == nil {
		ctx, cancel := context.WithCancel(t.Context())
		w.Event = func(ev engine.Event) {
			if ended || ev.Seq == 0 {
				return
			}
			events = append(events, fmt.Sprint(ev.Run, " ", ev.Seq, " ", ev.Type, " ", ev.Question, ev.ID))
			if ev.Question == "text of last" || ev.ID == "last" {
				last = ev.Run
			}
			if ended = ev.Type == engine.RunCompleted && ev.Run == last; ended || len(events)%every == 0 {
				cancel()
			}
		}
		if err := c.WatchSession(ctx, "chat", w); ctx.Err() == nil {
			t.Error(err)
			ended = true
		}
		cancel()
	}
	return events
}
