//go:build unix

package servetest_test

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

// A run whose server is killed again and again continues each time. Watchers that
// reconnect receive every event once, and no write is repeated.
func TestAKilledServerLosesAndRepeatsNothing(t *testing.T) {
	alone(t)
	kills, steps := size(5, 50), size(6, 20)
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 1))
	a := agent{name: "writes", steps: steps, tool: slowTool, latency: 60 * time.Millisecond}
	w := newWorld(t, map[string]string{"server.yaml": serverFile("park_after: 10ms"), "spec.yaml": a.spec()})
	w.start()
	w.create(a.name, "undisturbed")
	calm := &watcher{w: w, run: "undisturbed"}
	if err := calm.watch(t.Context()); err != nil {
		t.Fatal(err)
	}
	w.create(a.name, "disturbed")
	watchers := make([]*watcher, 3)
	watched := make(chan error, len(watchers))
	for i := range watchers {
		watchers[i] = &watcher{w: w, run: "disturbed"}
		go func() { watched <- watchers[i].watch(t.Context()) }()
	}
	busy, doubts := 0, doubts{}
	lifetime := 60 * time.Millisecond
	for range kills {
		time.Sleep(time.Duration(rng.Int64N(int64(2 * lifetime))))
		if w.result("disturbed").Status != "completed" {
			busy++
		}
		w.kill()
		w.launch()
		doubts.settle(w, "disturbed")
	}
	w.awaitReady()
	w.until("the run is done", func() bool { doubts.settle(w, "disturbed"); return w.result("disturbed").Status == "completed" })
	for range watchers {
		if err := <-watched; err != nil {
			t.Fatal(err)
		}
	}
	connections := 0
	stored := w.events("disturbed")
	for i, a := range watchers {
		connections += a.connections
		compareEvents(t, fmt.Sprintf("watcher %d", i), a.joined, stored)
	}
	compareEvents(t, "the undisturbed run", normalized(calm.joined), normalized(stored))
	w.ledger(2 * steps)
	t.Logf("%d kills, %d of them while the run was in progress; %d watchers, %d connections, %d events each; writes in doubt: %d done, %d not", kills, busy, len(watchers), connections, len(stored), doubts.done, doubts.redone)
}

// doubts counts the writes whose outcome was unknown after a crash.
type doubts struct{ done, redone int }

// settle answers the questions about writes in doubt as the ledger has it.
func (d *doubts) settle(w *world, run string) {
	w.t.Helper()
	for _, q := range w.result(run).Interrupts {
		if q.Kind != "needs_review" {
			w.t.Fatalf("asked about %+v", q)
		}
		body := fmt.Sprintf(`{"path":%q,"do":"redo"}`, q.Path)
		isDone := w.written()[run+"/"+q.Path] > 0
		if isDone {
			body = fmt.Sprintf(`{"path":%q,"do":"done","result":"written"}`, q.Path)
		}
		w.must(http.StatusOK, http.MethodPost, "/v1/runs/"+run+"/answers", body)
		if isDone {
			d.done++
		} else {
			d.redone++
		}
	}
}

// compareEvents reports the first event in which two lists differ.
func compareEvents(t *testing.T, of string, got, want []event) {
	t.Helper()
	for i := range min(len(got), len(want)) {
		if got[i].String() != want[i].String() {
			t.Fatalf("%s, event %d:\n%s\nwant:\n%s", of, i, got[i], want[i])
		}
	}
	if len(got) != len(want) {
		t.Fatalf("%s has %d events, want %d", of, len(got), len(want))
	}
}

var volatile = regexp.MustCompile(`,?"(at|run|run_id)":"[^"]*"|,?"duration_ms":\d+`)

// normalized returns events without times and ids, and without those about writes in
// doubt.
func normalized(events []event) []event {
	var out []event
	for _, ev := range events {
		data := volatile.ReplaceAllString(string(ev.data), "")
		out = append(out, event{kind: ev.kind, data: []byte(data)})
	}
	return slices.DeleteFunc(out, func(ev event) bool { return strings.HasPrefix(ev.kind, "interrupt.") })
}
