package feed

import (
	"context"
	"slices"
	"strconv"
	"sync"

	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/jsonvalue"
)

// maxHeld is how many bytes of encoded events a Feed with Earlier holds.
const maxHeld = 8 << 20

// maxLag is how many items a watcher may be behind and still receive transient events.
const maxLag = 256

// The types of items that are not events.
const (
	Rewound = "rewound" // the events after a number are void; data: {"after": 20}
	End     = "end"     // no event follows in this session; data: {"status": "completed"}
	Turn    = "turn"    // of a conversation: no event follows in this session of a run; data: {"run_id": "r-1", "status": "completed"}
)

// Item is an event, or a Rewound or End item.
type Item struct {
	Cursor Cursor // of a numbered event; zero for transient events, Rewound and End
	ID     string // of a numbered event, if it is not Cursor
	Type   string // type of the event, Rewound, End or Turn; "" = of another protocol, whose events are data only
	Data   []byte // one line of JSON; shared, so it must not be changed
	More   bool   // another item is ready: a writer need not flush yet
}

// Feed holds the events of a run, encoded, for any number of watchers. It is the sink of
// one session of the run, of a follower, or of a replay of the journal. All methods are
// safe for concurrent use.
type Feed struct {
	// Earlier replays the journal: it sends all events of the run to a sink, from the
	// first one, until ctx ends. With it the Feed holds only the last 8 MiB of events and
	// calls Earlier for a watcher that needs older ones. Nil = the Feed holds all events.
	// It must be set before the Feed is used.
	Earlier func(ctx context.Context, sink engine.Sink)
	// Unwatched says that no watcher is expected: the Feed holds no events until the first one
	// comes, which reads those before with Earlier. It needs Earlier, and must be set before the
	// Feed is used.
	Unwatched bool

	mu     sync.Mutex
	held   []Item   // numbered events in order; append-only, since batches of watchers share it
	bytes  int      // size of held
	limit  int      // maxHeld
	starts []Cursor // the first event of each count of rewinds, also if it is no longer held
	last   Cursor   // of the last numbered event
	done   bool     // that event was run.completed
	live   bool     // Send was called
	end    *Item    // set once by End

	recent     []Item // last items of both kinds for watchers of transient events; append-only
	recentBase int    // number of the first of recent among all items
	transients int    // watchers that want transient events

	changed, numbered signal // of all items; of all but transient ones
}

var (
	_ engine.Sink       = (*Feed)(nil)
	_ engine.ReplaySink = (*Feed)(nil)
)

// New returns an empty Feed.
func New() *Feed { return &Feed{limit: maxHeld} }

// Send adds an event that happens now. An event that the Feed already has is ignored.
func (f *Feed) Send(ev engine.Event) {
	if ev.Seq != 0 {
		f.add(ev, true)
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.transients > 0 && f.end == nil {
		f.addRecent(encode(ev))
		f.changed.broadcast()
	}
}

// Replay adds an event of an earlier session.
func (f *Feed) Replay(ev engine.Event) { f.add(ev, false) }

// End ends the feed: all watchers receive the remaining events and then an End item with
// the status, such as completed, failed, suspended or interrupted. Later events are
// ignored: another session of the run needs another Feed. Only the first call has an
// effect.
func (f *Feed) End(status string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.end == nil {
		f.end = &Item{Type: End, Data: []byte(`{"status":` + jsonvalue.Quote(status) + `}`)}
		f.changed.broadcast()
		f.numbered.broadcast()
	}
}

// add adds a numbered event.
func (f *Feed) add(ev engine.Event, live bool) {
	at := Cursor{Rewinds: ev.Rewinds, Seq: ev.Seq}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.live = f.live || live
	if f.end != nil || at.Seq <= f.last.Seq && at.Rewinds <= f.last.Rewinds {
		return
	}
	if at.Seq <= f.last.Seq {
		f.rewind(at.Seq)
	}
	if n := len(f.starts); n == 0 || f.starts[n-1].Rewinds != at.Rewinds {
		f.starts = append(f.starts, at)
	}
	f.last, f.done = at, ev.Type == engine.RunCompleted
	if !f.Unwatched {
		item := encode(ev)
		f.held, f.bytes = append(f.held, item), f.bytes+len(item.Data)
		f.addRecent(item)
		f.spill()
	}
	f.changed.broadcast()
	f.numbered.broadcast()
}

// rewind removes the events with number seq and higher.
func (f *Feed) rewind(seq int) {
	n := f.index(seq)
	for _, item := range f.held[n:] {
		f.bytes -= len(item.Data)
	}
	f.held = slices.Clip(f.held[:n])
	f.starts = slices.DeleteFunc(f.starts, func(c Cursor) bool { return c.Seq >= seq })
	f.dropRecent()
}

// spill removes the oldest events if Earlier can read them again.
func (f *Feed) spill() {
	if f.Earlier == nil || f.bytes <= f.limit {
		return
	}
	n := 0
	for ; f.bytes > f.limit/2 && n < len(f.held)-1; n++ {
		f.bytes -= len(f.held[n].Data)
	}
	f.held = slices.Clone(f.held[n:]) // a copy, so that the memory of the others is freed
}

// index returns the position in held of the first event with number seq or higher.
func (f *Feed) index(seq int) int {
	n, _ := slices.BinarySearchFunc(f.held, seq, func(i Item, seq int) int { return i.Cursor.Seq - seq })
	return n
}

// addRecent adds an item for watchers of transient events.
func (f *Feed) addRecent(item Item) {
	if f.transients == 0 {
		f.recentBase++
		return
	}
	if len(f.recent) == 2*maxLag {
		f.recent = append(make([]Item, 0, 2*maxLag), f.recent[maxLag:]...)
		f.recentBase += maxLag
	}
	f.recent = append(f.recent, item)
}

// dropRecent makes all watchers continue with the numbered events.
func (f *Feed) dropRecent() { f.recent, f.recentBase = nil, f.recentBase+len(f.recent)+1 }

// watchTransients counts the watchers of transient events.
func (f *Feed) watchTransients(change int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.transients += change; f.transients == 0 {
		f.dropRecent()
	}
}

// Encode encodes an event as the command line does, as one line of JSON.
func Encode(ev engine.Event) []byte {
	data, err := jsonvalue.Marshal(&ev)
	if err != nil { // arguments that are not JSON
		data = jsonvalue.Encode(engine.Event{
			V: ev.V, Seq: ev.Seq, Rewinds: ev.Rewinds, At: ev.At, Run: ev.Run, Type: ev.Type, Path: ev.Path, Agent: ev.Agent,
			Text: "the event cannot be encoded: " + err.Error(),
		})
	}
	return data
}

func encode(ev engine.Event) Item {
	item := Item{Type: string(ev.Type), Data: Encode(ev)}
	if ev.Seq != 0 {
		item.Cursor = Cursor{Rewinds: ev.Rewinds, Seq: ev.Seq}
	}
	return item
}

// rewoundItem tells a watcher that the events after number after are void.
func rewoundItem(after int) Item {
	return Item{Type: Rewound, Data: []byte(`{"after":` + strconv.Itoa(after) + `}`)}
}

// signal wakes all goroutines that wait for a change. The zero signal is ready for use.
type signal struct{ c chan struct{} }

// next returns a channel that the next broadcast closes.
func (s *signal) next() <-chan struct{} {
	if s.c == nil {
		s.c = make(chan struct{})
	}
	return s.c
}

func (s *signal) broadcast() {
	if s.c != nil {
		close(s.c)
		s.c = nil
	}
}
