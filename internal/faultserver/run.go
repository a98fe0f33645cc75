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

// Bounds of a run, in place of the transport's own, which are larger.
const (
	maxBody  = 1 << 20
	attempts = 3
	atOnce   = 16
)

// plan says which fault a call meets.
type plan struct {
	fault    int
	streamed bool
	always   bool
}

// Run makes PEX_CHAOS_CALLS calls (by default a thousand, under the race detector
// 300), 16 at once, each met by a fault that PEX_CHAOS_SEED chooses, and some more
// where a fault wants a server of its own. No goroutine is left behind.
func Run(t *testing.T, f Format, model Maker) {
	t.Helper()
	before := runtime.NumGoroutine()
	total, seed := number(t, "PEX_CHAOS_CALLS", usual)/max(f.Part, 1), number(t, "PEX_CHAOS_SEED", 1)
	list := faults(&f)
	for on := range lanes {
		calls, workers := total, atOnce
		if on != plain {
			calls = min(total, 24)
		}
		if on == reused {
			workers = 1
		}
		s := open(t, on, &f, list)
		m := s.model(t, model, maxBody)
		s.calls(t, m, shuffled(list, matching(list, &f, func(x *fault) bool { return x.lane == on }), calls, seed), workers)
		s.close()
	}
	s := openHTTP2(&f, list)
	m := s.model(t, model, maxBody)
	s.calls(t, m, shuffled(list, matching(list, &f, func(x *fault) bool { return !x.raw }), total/4, seed), atOnce)
	s.close()
	settle(t, before)
}

// number is a number of the environment.
func number(t testing.TB, name string, otherwise int) int {
	t.Helper()
	text := os.Getenv(name)
	if text == "" {
		return otherwise
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 {
		t.Fatalf("%s=%s is no number of calls", name, text)
	}
	return n
}

// matching are the plans that the faults of a choice give: once and always, for
// a whole reply and for a stream.
func matching(list []fault, f *Format, fits func(*fault) bool) []plan {
	var out []plan
	for i := range list {
		if !fits(&list[i]) {
			continue
		}
		for _, always := range []bool{true, false} {
			if always || list[i].lane < severed && !list[i].dear { // what is below requests fails each time
				out = append(out, plan{i, false, always})
				if f.Stream != nil {
					out = append(out, plan{i, true, always})
				}
			}
		}
	}
	return out
}

// shuffled are so many plans in an order that the seed gives: in rounds, all
// before any comes again. What is dear comes once.
func shuffled(list []fault, plans []plan, calls, seed int) []plan {
	random := rand.New(rand.NewPCG(uint64(seed), 0))
	var out []plan
	for len(out) < calls {
		random.Shuffle(len(plans), func(i, j int) { plans[i], plans[j] = plans[j], plans[i] })
		out = append(out, plans...)
		plans = slices.DeleteFunc(slices.Clone(plans), func(p plan) bool { return list[p.fault].dear })
	}
	return out[:calls]
}

// calls makes the calls of a list of plans.
func (s *site) calls(t *testing.T, m tested, plans []plan, workers int) {
	t.Helper()
	var all sync.WaitGroup
	room := make(chan struct{}, workers)
	for i, p := range plans {
		room <- struct{}{}
		all.Go(func() {
			defer func() { <-room }()
			if why := s.call(t.Context(), m, i, p); why != "" {
				t.Error(why)
			}
		})
	}
	all.Wait()
}

// settle waits until the goroutines of a test are gone.
func settle(t *testing.T, before int) {
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
