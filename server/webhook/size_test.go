package webhook_test

import (
	"fmt"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/internal/app/homedir"
	"github.com/pexctl/pex/server/webhook"
)

// Many runs whose receiver is down need little memory. Once it works, it gets every event.
func TestADeadReceiverCostsLittleMemory(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		up := false
		w.respond = func(int, delivery) *http.Response {
			if !up {
				return status(http.StatusBadGateway)
			}
			return nil
		}
		w.start(w.hook("a", step, engine.RunCompleted))
		const runs, steps = 300, 20
		large := strings.Repeat("x", 3000)
		for i := range runs {
			s := w.session(fmt.Sprintf("r-%03d", i), "desk", true)
			for range steps {
				s.send(engine.Event{Type: step, Text: large})
			}
			s.event(engine.RunCompleted)
			s.Close()
		}
		for range 20 {
			time.Sleep(time.Minute)
			if held := w.dispatcher.Held("a"); held > webhook.MaxHeld+8*webhook.MaxLoad {
				t.Fatalf("%d bytes are in memory", held)
			}
		}
		w.mu.Lock()
		up, w.deliveries = true, nil
		w.mu.Unlock()
		time.Sleep(24 * time.Hour)
		next := map[string]int{}
		for _, d := range w.received("a") {
			next[d.run]++
			if d.cursor != fmt.Sprint("0.", next[d.run]) {
				t.Fatalf("%s is number %d", d, next[d.run])
			}
		}
		if got := len(w.received("a")); got != runs*(steps+1) || w.dispatcher.Held("a") != 0 || w.outbox.Runs() != 0 {
			t.Errorf("%d messages, %d bytes, %d runs", got, w.dispatcher.Held("a"), w.outbox.Runs())
		}
		w.stop()
	})
}

// A slow receiver delays neither runs nor other receivers.
func TestASlowReceiver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		d := webhook.New(webhook.Options{Log: discard}.WithTransport(slowly{w}))
		w.dispatcher = d
		w.outbox = d.Open(webhook.Tenant{Name: "shared", Home: w.home, Replay: w.replay})
		if err := d.SetHooks([]*webhook.Hook{w.hook("slow"), w.hook("fast")}); err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		for i := range 100 {
			w.run(fmt.Sprint("r-", i))
		}
		if took := time.Since(began); took != 0 {
			t.Errorf("the runs waited for %v", took)
		}
		synctest.Wait()
		if n := len(w.received("fast")); n != 200 {
			t.Errorf("%d messages of 200", n)
		}
		time.Sleep(time.Minute)
		if st := w.outbox.List()[1]; st.Name != "slow" || !strings.Contains(st.LastError.Error, "no response within 15s") {
			t.Errorf("%+v", st)
		}
		w.stop()
	})
}

// slowly makes the receiver named slow exceed the time of an attempt.
type slowly struct{ *world }

func (s slowly) RoundTrip(r *http.Request) (*http.Response, error) {
	if strings.HasPrefix(r.URL.Host, "slow.") {
		<-r.Context().Done()
		return nil, r.Context().Err()
	}
	return s.world.RoundTrip(r)
}

// The ledger stays small however much was delivered.
func TestTheLedgerIsCompacted(t *testing.T) {
	w := newWorld(t)
	w.journals["r-1"] = nil
	if err := webhook.Settle(filepath.Join(w.home, homedir.WebhooksFolder), "r-1", 3*webhook.MinCompaction); err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(w.ledger(), "\n"); n > webhook.MinCompaction {
		t.Errorf("%d lines", n)
	}
	if last := fmt.Sprintf(`"0.%d"`, 3*webhook.MinCompaction); !strings.Contains(w.ledger(), last) {
		t.Errorf("the last cursor %s is missing", last)
	}
	w.start(w.hook("a"))
	if n := w.outbox.Runs(); n != 1 {
		t.Errorf("%d runs", n)
	}
	w.stop()
}
