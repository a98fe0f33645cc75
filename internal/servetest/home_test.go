//go:build unix

package servetest_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/pexctl/pex/engine/journal"
)

// A server over a home with many runs is ready soon, continues those that have not ended,
// and lists pages quickly.
func TestAHomeWithManyRunsIsReadySoon(t *testing.T) {
	alone(t)
	ended, unfinished := size(200, 10_000), size(10, 100)
	a := agent{name: "two", steps: 2, latency: time.Millisecond}
	priced := strings.NewReplacer("provider: scripted", "provider: scripted\n    cost: {input: 1, output: 1}", "max_steps: 100", "max_steps: 100, max_cost: 1").Replace(a.spec())
	w := newWorld(t, map[string]string{
		"server.yaml": serverFile("limits: {per_tenant: {cost_per_day: 1000000, keep_runs: 720h}}"), "spec.yaml": priced,
	})
	w.start()
	const original = "r-20260101-000000-00000000"
	w.create(a.name, original)
	w.until("the original is done", func() bool { return w.result(original).Status == "completed" })
	if code, _ := w.terminate(); code != 143 {
		t.Fatalf("exit code %d", code)
	}
	began := time.Now()
	copies := newCopies(w, original)
	for i := range ended {
		copies.ended(fmt.Sprintf("r-20260102-%06d-00000000", i))
	}
	var ids []string
	for i := range unfinished {
		ids = append(ids, fmt.Sprintf("r-20260103-%06d-00000000", i))
		copies.unfinished(ids[i])
	}
	copies.close()
	wrote := time.Since(began)

	began = time.Now()
	w.launch()
	listens := time.Since(began)
	w.awaitReady()
	ready := time.Since(began)
	_, usage := w.timed("/v1/usage")
	_, first := w.timed("/v1/runs")
	for _, id := range ids {
		w.until(id+" is done", func() bool { return w.result(id).Status == "completed" })
	}
	finished := time.Since(began)
	var pages []time.Duration
	for range 20 {
		_, took := w.timed("/v1/runs")
		pages = append(pages, took)
	}
	slices.Sort(pages)
	var u struct {
		Spent    float64 `json:"cost_usd"`
		Reserved float64 `json:"reserved_usd"`
	}
	if err := json.Unmarshal(w.must(http.StatusOK, http.MethodGet, "/v1/usage", ""), &u); err != nil || u.Spent <= 0 || u.Reserved != 0 {
		t.Errorf("usage: %+v %v", u, err)
	}
	if n := len(w.list()); n != ended+unfinished+1 {
		t.Errorf("%d runs are listed, want %d", n, ended+unfinished+1)
	}
	t.Logf("%d ended and %d unfinished runs: listens after %v, ready after %v, all have ended after %v; GET /v1/usage: first %v; GET /v1/runs: first %v, then median %v, max %v of %d; VmHWM %.0f MB; writing them took %v (%s)",
		ended, unfinished, round(listens), round(ready), round(finished), round(usage), round(first), round(pages[len(pages)/2]), round(pages[len(pages)-1]), len(pages), w.memory("VmHWM"), round(wrote), load())
}

func round(d time.Duration) time.Duration { return d.Round(100 * time.Microsecond) }

// timed returns the response to a request, and how long it took.
func (w *world) timed(path string) (body []byte, took time.Duration) {
	w.t.Helper()
	began := time.Now()
	body = w.must(http.StatusOK, http.MethodGet, path, "")
	return body, time.Since(began)
}

// copies writes copies of a run to the home of a world.
type copies struct {
	w    *world
	home *journal.Home
	run  string
	recs []journal.Record
	head []byte
}

func newCopies(w *world, run string) *copies {
	w.t.Helper()
	h, err := journal.OpenHome(w.home, journal.Async)
	if err != nil {
		w.t.Fatal(err)
	}
	c := &copies{w: w, home: h, run: run}
	if c.recs, err = h.Read(run); err != nil {
		w.t.Fatal(err)
	}
	head, err := h.Head(run)
	if err != nil {
		w.t.Fatal(err)
	}
	c.head = head.Summary
	return c
}

// ended writes a run that has ended.
func (c *copies) ended(run string) { c.write(run, c.recs, c.head) }

// unfinished writes a run whose process was killed in the middle.
func (c *copies) unfinished(run string) { c.write(run, c.recs[:len(c.recs)/2], nil) }

func (c *copies) write(run string, recs []journal.Record, head []byte) {
	c.w.t.Helper()
	f, err := c.home.Create(run)
	if err != nil {
		c.w.t.Fatal(err)
	}
	renamed := slices.Clone(recs)
	renamed[0].Path = run
	renamed[0].Body = bytes.ReplaceAll(renamed[0].Body, []byte(c.run), []byte(run))
	if _, err := f.Append(renamed); err != nil {
		c.w.t.Fatal(err)
	}
	if head != nil {
		f.SetHead(bytes.ReplaceAll(head, []byte(c.run), []byte(run)))
	}
	if err := f.Close(); err != nil {
		c.w.t.Fatal(err)
	}
}

func (c *copies) close() {
	c.w.t.Helper()
	if err := c.home.Close(); err != nil {
		c.w.t.Fatal(err)
	}
}
