package faultserver

import (
	"math/rand/v2"
	"os"
	"runtime"
	"slices"
	"strconv"
	"sync"
	"testing"

	"github.com/pexctl/pex/internal/httpclient"
)

// Limits of a run. The transport's own are larger.
const (
	maxBody     = 1 << 20
	attempts    = 3
	concurrency = 16
)

// plan is the fault of a call.
type plan struct {
	fault    int
	streamed bool
	always   bool
}

// Run makes PEX_FAULT_CALLS calls (default: 1,000, or 300 under the race detector), 16 at a time.
// PEX_FAULT_SEED determines the fault of each. Faults that need a server of their own get additional
// calls. No goroutine may leak.
func Run(t *testing.T, f Format, model Maker) {
	t.Helper()
	before := runtime.NumGoroutine()
	total, seed := number(t, "PEX_FAULT_CALLS", defaultCalls)/max(f.Part, 1), number(t, "PEX_FAULT_SEED", 1)
	list := faults(&f)
	for on := range serverKinds {
		calls, workers := total, concurrency
		if on != plain {
			calls = min(total, 24)
		}
		if on == reusedConn {
			workers = 1
		}
		s := openEndpoint(t, on, &f, list)
		m := s.model(t, model, maxBody)
		s.calls(t, m, shuffled(list, matching(list, &f, func(x *fault) bool { return x.server == on }), calls, seed), workers)
		s.close()
	}
	s := openHTTP2(&f, list)
	m := s.model(t, model, maxBody)
	s.calls(t, m, shuffled(list, matching(list, &f, func(x *fault) bool { return !x.hijacks }), total/4, seed), concurrency)
	s.close()
	waitForGoroutines(t, before)
}

// number returns the value of an environment variable.
func number(t testing.TB, name string, otherwise int) int {
	t.Helper()
	text := os.Getenv(name)
	if text == "" {
		return otherwise
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 {
		t.Fatalf("%s=%s is not a positive number", name, text)
	}
	return n
}

// matching returns the plans for the selected faults: once and always, for whole replies and
// streams.
func matching(list []fault, f *Format, fits func(*fault) bool) []plan {
	var out []plan
	for i := range list {
		if !fits(&list[i]) {
			continue
		}
		for _, always := range []bool{true, false} {
			if always || list[i].server < brokenTLS && !list[i].slow { // faults below HTTP happen every time
				out = append(out, plan{i, false, always})
				if f.Stream != nil {
					out = append(out, plan{i, true, always})
				}
			}
		}
	}
	return out
}

// shuffled returns the plans for a number of calls, in random order: every plan once per round,
// slow faults only in the first round.
func shuffled(list []fault, plans []plan, calls, seed int) []plan {
	random := rand.New(rand.NewPCG(uint64(seed), 0))
	var out []plan
	for len(out) < calls {
		random.Shuffle(len(plans), func(i, j int) { plans[i], plans[j] = plans[j], plans[i] })
		out = append(out, plans...)
		plans = slices.DeleteFunc(slices.Clone(plans), func(p plan) bool { return list[p.fault].slow })
	}
	return out[:calls]
}

// calls makes a call for each plan.
func (s *endpoint) calls(t *testing.T, m tested, plans []plan, workers int) {
	t.Helper()
	var all sync.WaitGroup
	slots := make(chan struct{}, workers)
	for i, p := range plans {
		slots <- struct{}{}
		all.Go(func() {
			defer func() { <-slots }()
			if why := s.call(t.Context(), m, i, p); why != "" {
				t.Error(why)
			}
		})
	}
	all.Wait()
}

// waitForGoroutines waits until the goroutines of a test have ended.
func waitForGoroutines(t *testing.T, before int) {
	t.Helper()
	httpclient.New(httpclient.Settings{}).CloseIdle()
	for range 1_000_000 {
		if runtime.NumGoroutine() <= before {
			return
		}
		runtime.Gosched()
	}
	stacks := make([]byte, 1<<20)
	t.Errorf("%d goroutines before, %d after:\n%s", before, runtime.NumGoroutine(), stacks[:runtime.Stack(stacks, true)])
}
