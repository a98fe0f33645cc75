//go:build unix

package servetest_test

import (
	"bytes"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// many has room for all runs and watchers of a test at once.
const many = "limits: {concurrent_runs: 1000, watchers: 5000}"

// Many runs with many watchers each: how late events are, and how much memory the server
// needs. A model of 50 ms keeps two cores busy; models in use take longer.
func TestManyRunsWithManyWatchers(t *testing.T) {
	alone(t)
	runs, steps, watchers := size(8, 200), size(4, 20), size(4, 10)
	latencies := []time.Duration{50 * time.Millisecond}
	if size(0, 1) == 1 {
		latencies = append(latencies, 500*time.Millisecond)
	}
	for _, latency := range latencies {
		t.Run(latency.String(), func(t *testing.T) {
			planning := time.Duration(size(200, 8000)) * time.Millisecond
			a := agent{name: "loaded", steps: steps, latency: latency, planning: planning}
			w := newWorld(t, map[string]string{"server.yaml": serverFile(many), "spec.yaml": a.spec()})
			w.start()
			began := time.Now()
			crowd := newCrowd(w)
			for i := range runs {
				run := fmt.Sprint("r-", i)
				w.create(a.name, run)
				for range watchers {
					crowd.add(run)
				}
			}
			crowd.joined.Wait()
			watched := time.Since(began)
			delays := crowd.wait()
			cpu, peak := w.cpu(), w.memory("VmHWM")
			for i := range runs {
				if res := w.result(fmt.Sprint("r-", i)); res.Status != "completed" || len(res.Steps) != steps {
					t.Fatalf("run %d %s with %d steps", i, res.Status, len(res.Steps))
				}
			}
			t.Logf("%d runs x %d steps, model %v, %d watchers (joined after %.1f s of %v): %s; %.1f s, server CPU %.1f s, VmHWM %.0f MB (%s)",
				runs, steps, latency, runs*watchers, watched.Seconds(), planning, delays,
				time.Since(began).Seconds(), cpu.Seconds(), peak, load())
		})
	}
}

// crowd are watchers that measure how late events are.
type crowd struct {
	w      *world
	joined sync.WaitGroup
	ended  sync.WaitGroup
	mu     sync.Mutex
	byRun  map[string][]time.Duration // of numbered events
	deltas []time.Duration            // of transient events
}

func newCrowd(w *world) *crowd { return &crowd{w: w, byRun: map[string][]time.Duration{}} }

// add adds a watcher of a run. It measures the events after it has joined.
func (c *crowd) add(run string) {
	c.joined.Add(1)
	c.ended.Go(func() {
		r, err := c.w.open(c.w.t.Context(), http.MethodGet, "/v1/runs/"+run+"/events", "", "accept: text/event-stream")
		c.joined.Done()
		if err != nil {
			c.w.t.Error(err)
			return
		}
		defer r.Body.Close()
		if r.StatusCode != http.StatusOK {
			c.w.t.Errorf("watch %s: status %d", run, r.StatusCode)
			return
		}
		from := time.Now()
		var numbered, deltas []time.Duration
		last, ended := 0, false
		_ = readEvents(r.Body, func(ev event) bool {
			now := time.Now()
			to := &deltas
			if ev.id != "" {
				to = &numbered
				if ev.number() != last+1 {
					c.w.t.Errorf("event %s of run %s follows number %d", ev.id, run, last)
				}
				last = ev.number()
			}
			if at := timeOf(ev.data); at.After(from) {
				*to = append(*to, now.Sub(at))
			}
			ended = ev.kind == "end"
			return !ended
		})
		if !ended {
			c.w.t.Errorf("the events of run %s break off after number %d", run, last)
		}
		c.mu.Lock()
		defer c.mu.Unlock()
		c.byRun[run] = append(c.byRun[run], numbered...)
		c.deltas = append(c.deltas, deltas...)
	})
}

// delays are the sorted delays of events.
type delays struct{ numbered, deltas []time.Duration }

// wait waits for the end of all runs. The time of a numbered event is that of the start of
// the run and the time during which it was active, and so is behind the clock. Its delay is
// measured against the fastest event of the run. Deltas have the time of the clock.
func (c *crowd) wait() delays {
	c.ended.Wait()
	d := delays{deltas: c.deltas}
	for _, all := range c.byRun {
		if len(all) == 0 {
			continue
		}
		fastest := slices.Min(all)
		for _, each := range all {
			d.numbered = append(d.numbered, each-fastest)
		}
	}
	slices.Sort(d.numbered)
	slices.Sort(d.deltas)
	return d
}

func (d delays) String() string {
	return fmt.Sprintf("%d events, delay p50 %v, p99 %v, max %v; %d deltas, p50 %v, p99 %v, max %v",
		len(d.numbered), percentile(d.numbered, 0.5), percentile(d.numbered, 0.99), percentile(d.numbered, 1),
		len(d.deltas), percentile(d.deltas, 0.5), percentile(d.deltas, 0.99), percentile(d.deltas, 1))
}

// timeOf returns the time of an event.
func timeOf(data []byte) time.Time {
	_, rest, _ := bytes.Cut(data, []byte(`"at":"`))
	text, _, _ := bytes.Cut(rest, []byte(`"`))
	at, _ := time.Parse(time.RFC3339Nano, string(text))
	return at
}

func percentile(sorted []time.Duration, p float64) time.Duration {
	if len(sorted) == 0 {
		return 0
	}
	return sorted[int(p*float64(len(sorted)-1))].Round(10 * time.Microsecond)
}

// What the watchers of one run cost in memory.
func TestWatchersOfOneRunShareItsEvents(t *testing.T) {
	alone(t)
	steps, watchers := size(5, 20), size(50, 1000)
	a := agent{name: "watched", steps: steps, latency: 20 * time.Millisecond, planning: time.Duration(size(100, 3000)) * time.Millisecond}
	peak := func(watchers int) float64 {
		w := newWorld(t, map[string]string{"server.yaml": serverFile(many), "spec.yaml": a.spec()})
		w.start()
		w.create(a.name, "r")
		crowd := newCrowd(w)
		for range watchers {
			crowd.add("r")
		}
		delays := crowd.wait()
		w.until("the run is done", func() bool { return w.result("r").Status == "completed" })
		if watchers > 0 {
			t.Logf("one run x %d steps, %d watchers: %s (%s)", steps, watchers, delays, load())
		}
		return w.memory("VmHWM")
	}
	with, without := peak(watchers), peak(0)
	t.Logf("VmHWM with %d watchers %.1f MB, with none %.1f MB, difference %.1f MB", watchers, with, without, with-without)
}

// How many durable runs of five steps the server accepts and finishes per second.
func TestThroughputOfDurableRuns(t *testing.T) {
	alone(t)
	clients, runs := size(8, 64), size(40, 4000)
	a := agent{name: "five", steps: 5}
	w := newWorld(t, map[string]string{"server.yaml": serverFile(many), "spec.yaml": a.spec()})
	w.start()
	took, cpu := w.finish(a.name, clients, runs)
	t.Logf("%d durable runs x 5 steps, %d clients: %.0f runs/s, server CPU %.2f ms per run, VmHWM %.0f MB (%s)", runs, clients,
		float64(runs)/took.Seconds(), cpu.Seconds()*1000/float64(runs), w.memory("VmHWM"), load())
}

// finish starts runs of an agent, as many at once as there are clients, and waits for their
// results. It returns the time and the CPU time of the server.
func (w *world) finish(agent string, clients, runs int) (took, cpu time.Duration) {
	w.t.Helper()
	before, began := w.cpu(), time.Now()
	var next atomic.Int64
	var working sync.WaitGroup
	for range clients {
		working.Go(func() {
			for n := next.Add(1); n <= int64(runs) && !w.t.Failed(); n = next.Add(1) {
				r, err := w.do(http.MethodPost, "/v1/agents/"+agent+"/runs", `{"question":"q"}`, "prefer: wait=60")
				if err != nil {
					w.t.Error(err)
				} else if r.status != http.StatusOK || !bytes.Contains(r.body, []byte(`"status": "completed"`)) {
					w.t.Errorf("status %d: %s", r.status, r.body)
				}
			}
		})
	}
	working.Wait()
	return time.Since(began), w.cpu() - before
}
