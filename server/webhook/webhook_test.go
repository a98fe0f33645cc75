package webhook_test

import (
	"fmt"
	"net/http"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/server/webhook"
)

const interrupt, step = engine.InterruptRaised, engine.StepCompleted

// The events that a hook wants arrive once, in the order of the run.
func TestEventsArriveOnceAndInOrder(t *testing.T) {
	w := newWorld(t)
	w.start(w.hook("a"), w.hook("all", step, interrupt))
	s := w.session("r-1", "desk", true)
	s.event(engine.RunStarted, step, engine.ModelDelta, interrupt, step, engine.RunCompleted)
	s.Close()
	w.idle()
	if got, want := names(w.received("a")), "r-1 0.1 run.started\nr-1 0.3 interrupt.raised\nr-1 0.5 run.completed"; got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
	if got, want := names(w.received("all")), "r-1 0.2 step.completed\nr-1 0.3 interrupt.raised\nr-1 0.4 step.completed"; got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
	if n := w.outbox.Runs(); n != 0 {
		t.Errorf("%d runs are in memory", n)
	}
	w.stop()
	if last := w.ledger(); !strings.Contains(last, `{"run":"r-1","end":true,`) {
		t.Error(last)
	}
	w.noCanary()
}

func TestMessageHasTheEventAndASignature(t *testing.T) {
	w := newWorld(t)
	w.start(w.hook("a", engine.RunCompleted))
	w.run("r-1")
	d := w.until("a", 1)[0]
	w.stop()
	const want = `{"type":"run.completed","timestamp":"2026-11-23T12:00:01Z","data":{"tenant":"shared","agent":"desk","run_id":"r-1","cursor":"0.2","event":{"v":1,"seq":2,"at":"2026-11-23T12:00:01Z","run":"r-1","type":"run.completed"}}}`
	if string(d.body) != want {
		t.Errorf("%s\nwant\n%s", d.body, want)
	}
	var unix int64
	if _, err := fmt.Sscan(d.header.Get("webhook-timestamp"), &unix); err != nil || time.Since(time.Unix(unix, 0)).Abs() > time.Minute {
		t.Error(d.header, err)
	}
	if got := d.header.Get("webhook-signature"); got != secrets(t, secret).Sign(d.id, time.Unix(unix, 0), d.body) {
		t.Error(got)
	}
	if d.header.Get("content-type") != "application/json" || d.header.Get("x-auth") != "canary" || !strings.HasPrefix(d.id, "msg_") {
		t.Error(d.header)
	}
}

// Failed messages are retried with growing waits, and after 8 attempts the next message of
// the run has its turn. Other runs do not wait.
func TestRetries(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.respond = func(_ int, d delivery) *http.Response {
			if d.run == "bad" && d.kind == "run.started" {
				return status(http.StatusInternalServerError)
			}
			return nil
		}
		w.start(w.hook("a"))
		began := time.Now()
		w.run("bad")
		w.run("good")
		time.Sleep(24 * time.Hour)
		synctest.Wait()
		var attempts []delivery
		for _, d := range w.received("a") {
			switch {
			case d.run == "good" && d.at != began:
				t.Errorf("%s after %v", d, d.at.Sub(began))
			case d.run == "bad" && d.kind == "run.started":
				attempts = append(attempts, d)
			}
		}
		if len(attempts) != webhook.MaxAttempts {
			t.Fatalf("%d attempts", len(attempts))
		}
		for i, wait := 1, webhook.FirstWait; i < len(attempts); i, wait = i+1, wait*4 {
			got := attempts[i].at.Sub(attempts[i-1].at)
			if got < wait*8/10 || got > wait*12/10 || attempts[i].id != attempts[0].id {
				t.Errorf("attempt %d after %v, want %v", i+1, got, wait)
			}
		}
		all := w.received("a")
		if last := all[len(all)-1]; last.String() != "bad 0.2 run.completed" {
			t.Error(last)
		}
		st := w.outbox.List()[0]
		if st.Delivered != 3 || st.Failed != 1 || st.Pending != 0 || st.LastError.Error != "HTTP 500 Internal Server Error" || st.LastError.Attempt != webhook.MaxAttempts {
			t.Errorf("%+v %+v", st, st.LastError)
		}
		if !strings.Contains(w.log.String(), `level=ERROR msg="webhook delivery failed for good" webhook=a tenant=shared run_id=bad event=run.started cursor=0.1 id=`+attempts[0].id) {
			t.Error(&w.log)
		}
		if n := strings.Count(w.log.String(), "level=WARN"); n == 0 || n > webhook.MaxAttempts {
			t.Errorf("%d warnings: %s", n, &w.log)
		}
		w.stop()
		w.noCanary()
	})
}

func TestAReceiverCanAskForALongerWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.respond = func(n int, _ delivery) *http.Response {
			switch n {
			case 1:
				return status(http.StatusTooManyRequests, "Retry-After: 600")
			case 2:
				return status(http.StatusServiceUnavailable, "Retry-After: 1")
			}
			return nil
		}
		w.start(w.hook("a", engine.RunCompleted))
		w.run("r-1")
		time.Sleep(time.Hour)
		got := w.received("a")
		w.stop()
		if len(got) != 3 || got[1].at.Sub(got[0].at) != 10*time.Minute || got[2].at.Sub(got[1].at) < 16*time.Second {
			t.Error(got)
		}
	})
}

// A receiver that replies 410 gets nothing more until the next reload, and then everything.
func TestGoneReceiver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.respond = func(n int, _ delivery) *http.Response {
			if n == 1 {
				return status(http.StatusGone)
			}
			return nil
		}
		hook := w.hook("a")
		w.start(hook)
		w.run("r-1")
		synctest.Wait()
		w.run("r-2")
		time.Sleep(48 * time.Hour)
		if got := w.received("a"); len(got) != 1 {
			t.Error(names(got))
		}
		if st := w.outbox.List()[0]; !st.Disabled || st.Pending != 4 {
			t.Errorf("%+v", st)
		}
		if err := w.dispatcher.SetHooks([]*webhook.Hook{hook}); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		if got := w.received("a"); len(got) != 5 {
			t.Error(names(got))
		}
		w.stop()
	})
}

func TestRedirectsAndLostConnectionsAreFailures(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.respond = func(n int, _ delivery) *http.Response {
			switch n {
			case 1:
				return status(http.StatusFound, "Location: https://other.example.com/")
			case 2:
				return status(0)
			}
			return nil
		}
		w.start(w.hook("a", engine.RunCompleted))
		w.run("r-1")
		synctest.Wait()
		if st := w.outbox.List()[0]; st.LastError == nil || st.LastError.Error != "HTTP 302 Found: redirects are not followed" {
			t.Errorf("%+v", st.LastError)
		}
		time.Sleep(10 * time.Second)
		if st := w.outbox.List()[0]; st.LastError.Error != "no route to a.example.com" {
			t.Errorf("%+v", st.LastError)
		}
		time.Sleep(time.Hour)
		if st := w.outbox.List()[0]; st.Delivered != 1 || w.counts["other.example.com"] != 0 {
			t.Errorf("%+v %v", st, w.counts)
		}
		if !strings.Contains(w.log.String(), "the webhook works again") {
			t.Error(&w.log)
		}
		w.stop()
		w.noCanary()
	})
}

// A reload adds hooks for the events that follow, and drops what removed hooks have not
// received.
func TestReload(t *testing.T) {
	w := newWorld(t)
	w.respond = func(_ int, d delivery) *http.Response {
		if d.host == "old.example.com" {
			return status(http.StatusBadGateway)
		}
		return nil
	}
	w.start(w.hook("old"))
	s := w.session("r-1", "desk", true)
	s.event(engine.RunStarted, interrupt)
	waits := w.session("r-2", "desk", true)
	waits.event(engine.RunStarted)
	waits.Close()
	other := w.hook("other")
	other.Agents = []string{"else"}
	if err := w.dispatcher.SetHooks([]*webhook.Hook{w.hook("new"), other}); err != nil {
		t.Fatal(err)
	}
	s.event(interrupt, engine.RunCompleted)
	s.Close()
	w.idle()
	waits = w.session("r-2", "desk", false)
	waits.event(engine.RunCompleted)
	waits.Close()
	w.idle()
	n := w.outbox.Runs()
	w.stop()
	if got, want := names(w.received("new")), "r-1 0.3 interrupt.raised\nr-1 0.4 run.completed\nr-2 0.2 run.completed"; got != want || n != 0 {
		t.Errorf("%d runs, %s\nwant\n%s", n, got, want)
	}
	if got := w.received("other"); len(got) != 0 {
		t.Error(names(got))
	}
}

func TestHooksOfOtherTenants(t *testing.T) {
	w := newWorld(t)
	mine, theirs := w.hook("mine"), w.hook("theirs")
	mine.Tenants, theirs.Tenants = []string{"shared"}, []string{"acme"}
	w.start(mine, theirs)
	w.run("r-1")
	w.idle()
	if list := w.outbox.List(); len(list) != 1 || list[0].Name != "mine" || w.counts["theirs.example.com"] != 0 {
		t.Errorf("%+v %v", list, w.counts)
	}
	if _, found := w.outbox.Test(t.Context(), "theirs"); found {
		t.Error("the hook of another tenant was tested")
	}
	tested, found := w.outbox.Test(t.Context(), "mine")
	if got := w.received("mine"); !found || tested.Status != http.StatusNoContent || tested.Err != nil || got[len(got)-1].kind != "webhook.test" {
		t.Errorf("%+v %v %s", tested, found, names(got))
	}
	w.stop()
}

// Without hooks there is no file.
func TestNoHooks(t *testing.T) {
	w := newWorld(t)
	w.start()
	w.run("r-1")
	w.stop()
	if files, _ := os.ReadDir(w.home); len(files) != 0 {
		t.Error(files)
	}
}

func TestTwoServersWithOneHome(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.start(w.hook("a"))
		d := webhook.New(webhook.Options{})
		d.Open(webhook.Tenant{Name: "shared", Home: w.home, Replay: w.replay})
		if err := d.SetHooks([]*webhook.Hook{w.hook("a")}); err == nil || !strings.Contains(err.Error(), "another server uses this home") {
			t.Error(err)
		}
		w.stop()
	})
}

// A hook that no longer takes the runs of an agent or a tenant gets nothing more of them, not
// even what was pending.
func TestANarrowedHookGetsNothingOfOtherRuns(t *testing.T) {
	for _, narrow := range []func(*webhook.Hook){
		func(h *webhook.Hook) { h.Agents = []string{"else"} },
		func(h *webhook.Hook) { h.Tenants = []string{"else"} },
	} {
		for _, restart := range []bool{false, true} {
			w := newWorld(t)
			w.respond = func(int, delivery) *http.Response { return status(http.StatusBadGateway) }
			w.start(w.hook("a"))
			s := w.session("r-1", "desk", true)
			s.event(engine.RunStarted, interrupt)
			before := len(w.until("a", 1))
			narrowed := w.hook("a")
			narrow(narrowed)
			w.mu.Lock()
			w.respond = nil
			w.mu.Unlock()
			if restart {
				s.Close()
				w.stop()
				w.start(narrowed)
				s = w.session("r-1", "desk", false)
			} else if err := w.dispatcher.SetHooks([]*webhook.Hook{narrowed}); err != nil {
				t.Fatal(err)
			}
			s.event(interrupt, engine.RunCompleted)
			s.Close()
			w.idle()
			w.stop()
			if got := w.received("a"); len(got) != before {
				t.Errorf("restart %v: %s", restart, names(got[before:]))
			}
		}
	}
}
