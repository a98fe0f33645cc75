//go:build unix

package servetest_test

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// userMessage is a message in a result.
type userMessage struct {
	ID   string `json:"id"`
	Text string `json:"text"`
	By   struct {
		User string `json:"user"`
	} `json:"by"`
	Seen bool `json:"seen"`
}

// Clients send messages to runs that start, ask, are parked, answered, cancelled or end
// meanwhile. A message is in the journal, once, if and only if it was acknowledged.
func TestAcknowledgedMessagesAreInTheJournal(t *testing.T) {
	raced(t, func(w *world, r *rand.Rand, run string) map[string]int {
		stored, rejected, status := w.raceMessages(r, run)
		return map[string]int{"stored": stored, "rejected": rejected, status: 1}
	}, func(*world, map[string]int) {})
}

// raceMessages sends three messages to a run, two of them twice, while it is approved or
// cancelled.
func (w *world) raceMessages(r *rand.Rand, run string) (stored, rejected int, status string) {
	w.create("asks", run)
	var all sync.WaitGroup
	var mu sync.Mutex
	acknowledged := map[string]bool{}
	for n, client := range []string{"ann", "ann", "bob", "bob", "cid"} {
		id, delay := fmt.Sprint("m-", n/2), time.Duration(r.IntN(60_000))*time.Microsecond
		all.Go(func() {
			time.Sleep(delay)
			reply, err := w.do(http.MethodPost, "/v1/runs/"+run+"/messages", fmt.Sprintf(`{"id":%q,"text":"By %s."}`, id, client), bearer(client))
			if err != nil {
				w.t.Error(err)
				return
			}
			if reply.status != http.StatusAccepted && (reply.status != http.StatusConflict || !strings.Contains(string(reply.body), `"code":"ended"`)) {
				w.t.Errorf("%s of %s: %d %s", id, run, reply.status, reply.body)
			}
			mu.Lock()
			defer mu.Unlock()
			acknowledged[id] = acknowledged[id] || reply.status == http.StatusAccepted
		})
	}
	cancel, delay := r.IntN(4) == 0, time.Duration(r.IntN(60_000))*time.Microsecond
	all.Go(func() {
		time.Sleep(delay)
		if cancel {
			w.must(http.StatusAccepted, http.MethodPost, "/v1/runs/"+run+"/cancel", "")
			return
		}
		w.until(run+" is approved", func() bool {
			open := w.result(run).Interrupts
			if len(open) == 0 {
				return false
			}
			w.must(http.StatusOK, http.MethodPost, "/v1/runs/"+run+"/answers", fmt.Sprintf(`{"path":%q,"do":"approve"}`, open[0].Path), bearer("ann"))
			return true
		})
	})
	all.Wait()
	w.until(run+" has ended", func() bool { return slices.Contains([]string{"completed", "cancelled"}, w.result(run).Status) })
	res := w.result(run)
	times := map[string]int{}
	for _, m := range res.Messages {
		times[m.ID]++
		if m.Text != "By "+m.By.User+"." || !m.Seen && res.Status == "completed" {
			w.t.Errorf("%s: %+v", run, m)
		}
	}
	for id, was := range acknowledged {
		want := 0
		if was {
			want = 1
		}
		if times[id] != want {
			w.t.Errorf("%s: message %s is in the journal %d times, acknowledged: %v", run, id, times[id], was)
		}
		stored, rejected = stored+want, rejected+1-want
	}
	return stored, rejected, res.Status
}

// A client sends messages to a run whose server is killed again and again, and repeats those
// that were not acknowledged. The run has each once, and watchers that reconnect receive
// every event once.
func TestMessagesToARunOfAKilledServer(t *testing.T) {
	alone(t)
	for name, parallel := range map[string]bool{"steps in turn": false, "steps at once": true} {
		t.Run(name, func(t *testing.T) {
			kills, messages := size(4, 30), size(6, 40)
			a := agent{name: "adds", steps: size(6, 40), latency: 80 * time.Millisecond, parallel: parallel}
			if parallel {
				a.planning = time.Second
			}
			w := newWorld(t, map[string]string{"server.yaml": serverFile("park_after: 10ms"), "spec.yaml": a.spec()})
			w.start()
			w.create(a.name, "disturbed")
			watch, watched := &watcher{w: w, run: "disturbed"}, make(chan error, 1)
			go func() { watched <- watch.watch(t.Context()) }()
			var sender sync.WaitGroup
			stored, repeated := 0, 0
			sender.Go(func() {
				for n := 0; n < messages; {
					r, err := w.do(http.MethodPost, "/v1/runs/disturbed/messages", fmt.Sprintf(`{"id":"m-%d","text":"Message %d."}`, n, n))
					switch {
					case err != nil || r.status == http.StatusServiceUnavailable:
						repeated++
					case r.status == http.StatusAccepted:
						n, stored = n+1, stored+1
					case r.status == http.StatusConflict && strings.Contains(string(r.body), `"code":"ended"`):
						return
					default:
						t.Errorf("message %d: %d %s", n, r.status, r.body)
						return
					}
					time.Sleep(time.Duration(rand.IntN(40)) * time.Millisecond)
				}
			})
			for range kills {
				time.Sleep(time.Duration(rand.IntN(150)) * time.Millisecond)
				w.kill()
				w.launch()
			}
			w.awaitReady()
			w.until("the run is done", func() bool { return w.result("disturbed").Status == "completed" })
			sender.Wait()
			if err := <-watched; err != nil {
				t.Fatal(err)
			}
			compareEvents(t, "the watcher", watch.joined, w.events("disturbed"))
			res, received := w.result("disturbed"), 0
			for n, m := range res.Messages {
				if m.ID != fmt.Sprint("m-", n) || !m.Seen {
					t.Errorf("message %d: %+v", n, m)
				}
			}
			for _, ev := range watch.joined {
				if ev.kind == "message.received" {
					received++
				}
			}
			if len(res.Messages) != stored || received != stored {
				t.Errorf("%d messages are acknowledged, %d are stored, %d have events", stored, len(res.Messages), received)
			}
			t.Logf("%d messages, %d requests repeated, %d events, %d connections", stored, repeated, len(watch.joined), watch.connections)
		})
	}
}
