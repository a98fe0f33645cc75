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
	alone(t)
	for name, parkAfter := range map[string]string{"in memory": "30s", "on disk": "1ms"} {
		t.Run(name, func(t *testing.T) {
			races := size(100, 1000) / 2
			files := authenticated(parkAfter, "ann", "bob", "cid")
			files["spec.yaml"] = agent{name: "asks", steps: 1, tool: approveTool}.spec()
			w := newWorld(t, files)
			w.as = bearer("cid")
			w.start()
			counts := map[string]int{}
			var mu sync.Mutex
			var lanes sync.WaitGroup
			for lane := range 8 {
				lanes.Go(func() {
					r := rand.New(rand.NewPCG(uint64(lane), 52))
					for n := lane; n < races && !t.Failed(); n += 8 {
						stored, rejected, status := w.raceMessages(r, fmt.Sprint("race-", n))
						mu.Lock()
						counts["stored"] += stored
						counts["rejected"] += rejected
						counts[status]++
						mu.Unlock()
					}
				})
			}
			lanes.Wait()
			t.Logf("%d races, run %s: %v", races, name, counts)
		})
	}
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
