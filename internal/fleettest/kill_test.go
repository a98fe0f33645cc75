//go:build e2e && linux

package fleettest_test

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/pexctl/pex/internal/temporaltest"
)

func TestMain(m *testing.M) {
	if runStandIn() {
		return
	}
	code := m.Run()
	removeProgram()
	os.Exit(code)
}

// number is a figure from the environment.
func number(t *testing.T, name string, otherwise int) int {
	t.Helper()
	text := os.Getenv(name)
	if text == "" {
		return otherwise
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		t.Fatalf("%s=%s is no number", name, text)
	}
	return n
}

// battle is what happened to a fleet.
type battle struct {
	results                map[string]*result
	doubts, redone         int
	attempts, kills        int
	serverKills, performed int
	took                   time.Duration
	workers, server        time.Duration // of CPU
	problems               []string      // runs that have no result, and why
}

func (b *battle) String() string {
	each := func(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 / float64(max(b.performed, 1)) }
	return fmt.Sprintf("%d runs, %d writes in %s; %d workers and %d servers killed; %d writes in doubt, %d of them not performed; %d commands of clients; CPU per write: %.1f ms of workers, %.1f ms of the server",
		len(b.results), b.performed, b.took.Round(100*time.Millisecond), b.kills, b.serverKills, b.doubts, b.redone, b.attempts, each(b.workers), each(b.server))
}

// fight executes runs on three workers. One of them is killed at each interval, and the server three times; 0 = none is.
func fight(t *testing.T, d driver, l *ledger, s *temporaltest.Server, z size, every time.Duration) *battle {
	t.Helper()
	seed := uint64(number(t, "PEX_FAULTS_SEED", int(time.Now().UnixNano()%1e9)))
	t.Logf("PEX_FAULTS_SEED=%d", seed)
	ctx, cancel := context.WithTimeout(t.Context(), time.Duration(number(t, "PEX_FLEET_MINUTES", 30))*time.Minute)
	defer cancel()
	names := []string{"a", "b", "c"}
	working, stop := context.WithCancel(ctx)
	f := launch(working, d, names...)
	var tormented sync.WaitGroup
	if every > 0 {
		progress := func() float64 { return float64(l.performed()) / float64(z.runs*z.steps*z.writes) }
		tormented.Go(func() { f.torment(working, t, s, names, every, progress, seed) })
	}
	b := &battle{results: map[string]*result{}}
	began := time.Now()
	b.execute(ctx, d, l, z)
	b.took = time.Since(began)
	stop()
	tormented.Wait()
	f.wg.Wait()
	b.kills, b.serverKills, b.performed, b.workers = f.kills, s.Kills(), l.performed(), f.cpu
	s.Kill()
	b.server = s.CPU()
	if inFlight := workerCalls * (b.kills + b.serverKills); b.doubts > inFlight {
		b.problems = append(b.problems, fmt.Sprintf("%d writes in doubt, but at most %d were interrupted", b.doubts, inFlight))
	}
	if t.Failed() || len(b.problems) > 0 {
		t.Logf("workers:\n%s", f.log.String())
	}
	return b
}

// execute executes all runs, some at a time.
func (b *battle) execute(ctx context.Context, d driver, l *ledger, z size) {
	ids := make(chan string, z.runs)
	for i := range z.runs {
		ids <- fmt.Sprintf("r%03d", i)
	}
	close(ids)
	var mu sync.Mutex
	var people sync.WaitGroup
	for range z.clients {
		people.Go(func() {
			for id := range ids {
				c := &person{driver: d, ledger: l, id: id}
				r, err := c.untilDone(ctx)
				mu.Lock()
				if err != nil {
					b.problems = append(b.problems, err.Error())
				} else {
					b.results[id] = r
				}
				b.doubts, b.redone, b.attempts = b.doubts+c.doubts, b.redone+c.redone, b.attempts+c.attempts
				mu.Unlock()
			}
		})
	}
	people.Wait()
}

// The rules hold for the stand-in, so that a test that fails for pexctl tells about pexctl.
func TestE2EFleetOfStandIns(t *testing.T) {
	s, l := temporaltest.Start(t), newLedger(t)
	l.delay = 20 * time.Millisecond
	z := size{runs: 12, steps: 5, writes: 4, clients: 6}
	b := fight(t, newStandIn(t, s, l, z, false), l, s, z, time.Second)
	t.Log(b)
	if wrong := append(b.problems, judge(l, z, b.results, standInResponse)...); len(wrong) > 0 {
		t.Error(firstOf(wrong))
	}
	if b.kills == 0 || b.serverKills == 0 {
		t.Error("nothing was killed")
	}
}

// A driver that repeats writes is found out.
func TestE2EACarelessFleetIsFoundOut(t *testing.T) {
	s, l := temporaltest.Start(t), newLedger(t)
	l.delay = 100 * time.Millisecond // so that each kill interrupts writes
	z := size{runs: 12, steps: 5, writes: 4, clients: 6}
	b := fight(t, newStandIn(t, s, l, z, true), l, s, z, time.Second)
	t.Log(b)
	if len(b.problems) > 0 {
		t.Error(firstOf(b.problems))
	}
	if wrong := judge(l, z, b.results, standInResponse); len(wrong) == 0 {
		t.Error("the judge finds nothing wrong with a driver that performs writes again")
	} else {
		t.Logf("found out: %s", firstOf(wrong))
	}
}

// The spec works without a fleet.
func TestE2ETheSpecOfTheFleet(t *testing.T) {
	l := newLedger(t)
	z := size{runs: 1, steps: 20, writes: 10}
	c := &person{driver: newPexctl(t, nil, z.spec(l.url)), ledger: l, id: "r"}
	r, code, err := c.execute(t.Context(), c.driver.(*pexctl).local("r"))
	if err != nil || code != codeDone {
		t.Fatalf("exit code %d: %v\n%s", code, err, c.log.String())
	}
	if wrong := judge(l, z, map[string]*result{"r": r}, pexctlResponse); len(wrong) > 0 {
		t.Error(firstOf(wrong))
	}
}

// A fleet of pexctl loses nothing and repeats nothing.
func TestE2EFleetOfPexctl(t *testing.T) {
	s, l := temporaltest.Start(t), newLedger(t)
	z := size{runs: number(t, "PEX_FLEET_RUNS", 200), steps: 20, writes: 10, clients: 16}
	d := newPexctl(t, s, z.spec(l.url))
	if !d.hasWorkers() {
		t.Skip("this pexctl has no workers")
	}
	b := fight(t, d, l, s, z, 2*time.Second)
	t.Log(b)
	if wrong := append(b.problems, judge(l, z, b.results, pexctlResponse)...); len(wrong) > 0 {
		t.Error(firstOf(wrong))
	}
	if b.serverKills != 3 {
		t.Errorf("the server was killed %d times, want 3", b.serverKills)
	}
}

// pexctlResponse is the answer of the spec.
const pexctlResponse = "All parts are done."

// What a write costs if nothing is killed.
func TestE2EFleetAtPeace(t *testing.T) {
	for _, name := range []string{"stand-in", "pexctl"} {
		t.Run(name, func(t *testing.T) {
			s, l := temporaltest.Start(t), newLedger(t)
			z := size{runs: number(t, "PEX_FLEET_RUNS", 20), steps: 20, writes: 10, clients: 16}
			var d driver = newStandIn(t, s, l, z, false)
			response := standInResponse
			if name == "pexctl" {
				p := newPexctl(t, s, z.spec(l.url))
				if !p.hasWorkers() {
					t.Skip("this pexctl has no workers")
				}
				d, response = p, pexctlResponse
			}
			b := fight(t, d, l, s, z, 0)
			t.Log(b)
			if wrong := append(b.problems, judge(l, z, b.results, response)...); len(wrong) > 0 || b.doubts > 0 {
				t.Error(firstOf(wrong))
			}
		})
	}
}
