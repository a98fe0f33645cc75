package feed_test

import (
	"context"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"

	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/jsonvalue"
	"github.com/pexctl/pex/server/feed"
)

// world is a random run of several sessions, and clients that watch it.
type world struct {
	rnd     *rand.Rand
	mu      sync.Mutex
	journal []engine.Event // the events that are not void
	rewinds int
	clients []*client
	feed    *feed.Feed
	spill   bool
}

// session replays the journal and executes part of the run, up to its end if last.
func (w *world) session(t *testing.T, last bool) {
	limit := 1 << 20
	if w.spill {
		limit = 1 + w.rnd.IntN(2000)
	}
	f := feed.NewLimited(limit)
	if w.spill {
		f.Earlier = func(_ context.Context, sink engine.Sink) {
			w.mu.Lock()
			events := w.journal
			w.mu.Unlock()
			for _, ev := range events {
				sink.Send(ev)
			}
		}
	}
	w.feed = f
	if len(w.journal) > 0 && w.rnd.IntN(3) == 0 { // resumed with higher limits
		w.rewinds++
		start := w.lastStart()
		w.journal = slices.Clip(w.journal[:start+w.rnd.IntN(len(w.journal)-start+1)])
	}
	w.connect(t)
	for _, ev := range w.journal[:max(0, len(w.journal)-w.rnd.IntN(3))] {
		f.Replay(ev)
		w.disturb(t)
	}
	for _, ev := range w.journal { // a session may send the last events again
		f.Send(ev)
		w.disturb(t)
	}
	for range w.rnd.IntN(20) {
		if w.rnd.IntN(3) == 0 {
			f.Send(delta("x"))
		}
		ev := event(w.rewinds, len(w.journal)+1, strings.Repeat("x", w.rnd.IntN(100)))
		w.mu.Lock()
		w.journal = append(w.journal, ev)
		w.mu.Unlock()
		f.Send(ev)
		w.disturb(t)
	}
	if last {
		w.mu.Lock()
		w.journal = append(w.journal, completed(w.rewinds, len(w.journal)+1))
		w.mu.Unlock()
		f.Send(w.journal[len(w.journal)-1])
	}
	f.End("ended")
	synctest.Wait()
}

// lastStart returns the number of events before the last raise: a run is never rewound to
// before an earlier one.
func (w *world) lastStart() (n int) {
	for i, ev := range w.journal {
		if i == 0 || ev.Rewinds != w.journal[i-1].Rewinds {
			n = i
		}
	}
	return n
}

// disturb lets the clients receive, or reconnects one.
func (w *world) disturb(t *testing.T) {
	switch w.rnd.IntN(4) {
	case 0:
		synctest.Wait()
	case 1:
		w.connect(t)
	}
}

// connect connects one client for a random number of items.
func (w *world) connect(t *testing.T) {
	c := w.clients[w.rnd.IntN(len(w.clients))]
	if !c.busy.TryLock() {
		return // still connected
	}
	items, deltas, f := 1+w.rnd.IntN(10), w.rnd.IntN(2) == 0, w.feed
	go func() {
		defer c.busy.Unlock()
		if err := f.Check(t.Context(), c.at); err != nil {
			c.problems = append(c.problems, err.Error())
		}
		for i := range f.Watch(t.Context(), c.at, deltas) {
			c.receive(i)
			if items--; items == 0 {
				return
			}
		}
	}()
}

// The events that a client receives over any number of connections are those of the run,
// once each, whatever happens in between.
func TestReconnectingLosesAndRepeatsNothing(t *testing.T) {
	seeds := uint64(400)
	if testing.Short() {
		seeds = 50
	}
	rewound := 0
	for seed := range seeds {
		synctest.Test(t, func(t *testing.T) {
			w := &world{rnd: rand.New(rand.NewPCG(seed, 1)), spill: seed%3 == 0, clients: []*client{{}, {}, {}}}
			for range w.rnd.IntN(6) {
				w.session(t, false)
			}
			w.session(t, true)
			var want []string
			for _, ev := range w.journal {
				want = append(want, string(jsonvalue.Encode(ev)))
			}
			for _, c := range w.clients {
				for i := range w.feed.Watch(t.Context(), c.at, false) {
					c.receive(i)
				}
				if diff := cmp.Diff(want, c.received); diff != "" || len(c.problems) > 0 {
					t.Fatalf("seed %d: %q %s", seed, c.problems, diff)
				}
			}
			rewound += w.rewinds
		})
	}
	if rewound < int(seeds)/2 {
		t.Errorf("only %d rewinds in %d runs", rewound, seeds)
	}
}
