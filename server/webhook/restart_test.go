package webhook_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/server/webhook"
)

// What was not delivered when the server stopped is delivered after its next start, with the
// same ids.
func TestARestartDeliversTheRest(t *testing.T) {
	w := newWorld(t)
	down := true
	w.respond = func(n int, _ delivery) *http.Response {
		if down && n > 1 {
			return status(http.StatusBadGateway)
		}
		return nil
	}
	w.start(w.hook("a"))
	w.run("r-1", interrupt)
	waits := w.session("r-2", "desk", true)
	waits.event(engine.RunStarted, interrupt)
	waits.Close() // it waits for an answer
	before := w.until("a", 3)
	w.stop()
	w.mu.Lock()
	down, w.deliveries = false, nil
	delete(w.journals, "none")
	w.mu.Unlock()
	w.start(w.hook("a"))
	w.idle()
	resumed := w.session("r-2", "desk", false)
	resumed.event(engine.RunCompleted)
	resumed.Close()
	w.idle()
	w.stop()
	got := w.received("a")
	ids := map[string]string{}
	for _, d := range append(before, got...) {
		if id := ids[d.String()]; id != "" && id != d.id {
			t.Errorf("%s has the ids %s and %s", d, id, d.id)
		}
		ids[d.String()] = d.id
	}
	if len(got) != 5 || len(ids) != 6 {
		t.Errorf("%d:\n%s", len(ids), names(got))
	}
}

// A server that is killed at any moment delivers every event, and repeats only the last one
// of each run.
func TestAKilledServerDeliversEveryEvent(t *testing.T) {
	w := newWorld(t)
	copies := []string{}
	w.respond = func(int, delivery) *http.Response { // the state as a kill leaves it, before and after a delivery
		dir := t.TempDir()
		b, _ := os.ReadFile(filepath.Join(w.home, webhook.LedgerFile))
		copied := filepath.Join(dir, webhook.LedgerFile)
		if err := os.MkdirAll(filepath.Dir(copied), 0o700); err != nil {
			t.Error(err)
		}
		if err := os.WriteFile(copied, b[:len(b)-len(b)%7], 0o600); err != nil {
			t.Error(err)
		}
		copies = append(copies, dir)
		return nil
	}
	w.start(w.hook("a"))
	for i := range 5 {
		w.run(fmt.Sprint("r-", i), step, interrupt, step, interrupt)
	}
	w.idle()
	w.stop()
	all := map[string]string{}
	for _, d := range w.received("a") {
		all[d.id] = d.String()
	}
	if len(all) != 20 {
		t.Fatal(all)
	}
	for i, dir := range copies {
		before := w.received("a")[:i+1]
		again := newWorld(t)
		again.home, again.journals = dir, w.journals
		again.start(again.hook("a"))
		again.idle()
		again.stop()
		got := map[string]int{}
		for _, d := range append(before, again.received("a")...) {
			if all[d.id] != d.String() {
				t.Fatalf("kill %d: another id of %s", i, d)
			}
			got[d.id]++
		}
		entered := map[string]bool{}
		for line := range strings.Lines(readFile(t, filepath.Join(dir, webhook.LedgerFile))) {
			var x struct{ Run string }
			_ = json.Unmarshal([]byte(line), &x)
			entered[x.Run] = true
		}
		for id, name := range all {
			if run, _, _ := strings.Cut(name, " "); entered[run] && got[id] == 0 {
				t.Errorf("kill %d: %s is missing", i, name)
			}
		}
	}
}

func readFile(t *testing.T, name string) string {
	t.Helper()
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// A run that stopped at a limit and is resumed continues with the events after the limit.
func TestARewoundRun(t *testing.T) {
	w := newWorld(t)
	w.start(w.hook("a"))
	w.run("r-1", step)
	w.idle()
	s := w.session("r-1", "desk", false)
	s.send(engine.Event{Type: interrupt, Seq: 3, Rewinds: 1})
	s.event(engine.RunCompleted)
	s.Close()
	w.idle()
	w.stop()
	if got, want := names(w.received("a")), "r-1 0.1 run.started\nr-1 0.3 run.completed\nr-1 1.3 interrupt.raised\nr-1 1.4 run.completed"; got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
}

// The id of a deleted run can be used again.
func TestANewRunWithAnOldID(t *testing.T) {
	w := newWorld(t)
	w.respond = func(n int, _ delivery) *http.Response {
		if n == 1 {
			return status(http.StatusBadGateway)
		}
		return nil
	}
	w.start(w.hook("a"))
	w.run("r-1")
	first := w.until("a", 1)[0]
	w.mu.Lock()
	delete(w.journals, "r-1")
	w.epoch = w.epoch.Add(time.Hour)
	w.mu.Unlock()
	w.run("r-1")
	w.idle()
	w.stop()
	got := w.received("a")
	if want := "r-1 0.1 run.started\nr-1 0.1 run.started\nr-1 0.2 run.completed"; names(got) != want || got[1].id == first.id {
		t.Errorf("%s\nwant\n%s", names(got), want)
	}
}

// A damaged ledger loses what follows the damage, and the server says so.
func TestADamagedLedger(t *testing.T) {
	w := newWorld(t)
	w.respond = func(int, delivery) *http.Response { return status(http.StatusBadGateway) }
	w.start(w.hook("a", engine.RunCompleted))
	for i := range 4 {
		w.run(fmt.Sprint("r-", i))
	}
	w.until("a", 4)
	w.stop()
	file := filepath.Join(w.home, webhook.LedgerFile)
	lines := strings.SplitAfter(readFile(t, file), "\n")
	lines[2] = strings.Replace(lines[2], "desk", "dusk", 1)
	if err := os.WriteFile(file, []byte(strings.Join(lines, "")), 0o600); err != nil {
		t.Fatal(err)
	}
	w.mu.Lock()
	w.respond, w.deliveries = nil, nil
	w.mu.Unlock()
	w.start(w.hook("a", engine.RunCompleted))
	w.idle()
	w.run("r-4")
	w.idle()
	w.stop()
	got := map[string]bool{}
	for _, d := range w.received("a") {
		got[d.run] = true
	}
	if !got["r-0"] || !got["r-1"] || got["r-2"] || !got["r-4"] {
		t.Error(got)
	}
	if !strings.Contains(w.log.String(), `level=ERROR msg="the list of webhook deliveries is damaged; some events may not be delivered"`) {
		t.Error(&w.log)
	}
}

// FuzzLedger: a server starts with any ledger, and can then store runs.
func FuzzLedger(f *testing.F) {
	f.Add("")
	f.Add("{\"run\":\"r-1\",\"agent\":\"desk\",\"hooks\":{\"a\":\"0.1\",\"b\":\"x\"},\"chain\":\"1c656e0b9879568a\"}\n{")
	f.Add("null\n[]\n{\"run\":1}\n")
	f.Fuzz(func(t *testing.T, content string) {
		w := newWorld(t)
		file := filepath.Join(w.home, webhook.LedgerFile)
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		w.start(w.hook("a", engine.RunCompleted))
		w.run("r-1")
		w.until("a", 1)
		w.stop()
	})
}
