package feed

import (
	"context"
	"iter"

	"github.com/pexctl/pex/engine"
)

// Watch returns the events after a cursor, then those that follow as they happen, then
// the End item. If ctx ends, it ends after the items that are ready; if Earlier fails, it
// ends at once. The numbered events are the same for every watcher. With deltas, a watcher that has received all numbered
// events also receives the transient ones; it may miss some if it falls behind.
//
// If the run was rewound to before the cursor, the first item is Rewound: the client must
// discard the events after the given number, which events of the same numbers replace.
// An unknown cursor beyond the last event waits for that event; see Check.
func (f *Feed) Watch(ctx context.Context, after Cursor, deltas bool) iter.Seq[Item] {
	return func(yield func(Item) bool) {
		f.expectWatchers()
		if deltas {
			f.watchTransients(1)
			defer f.watchTransients(-1)
		}
		w := watcher{feed: f, at: after, deltas: deltas}
		for {
			last := ctx.Err() != nil // checked first, so that what precedes its end is sent
			b := w.next()
			if !w.send(b, yield) || b.missing && !w.readEarlier(ctx, b.before, yield) || b.end != nil || last {
				return
			}
			if b.empty() {
				select {
				case <-b.changed:
				case <-ctx.Done():
				}
			}
		}
	}
}

// watcher is the position of one watcher. Only its goroutine accesses it.
type watcher struct {
	feed   *Feed
	at     Cursor // of the last numbered event sent
	deltas bool
	joined bool // the feed has reached at, and all its numbered events were sent
	// position is the number of the next item among all items of the feed, transient ones
	// included, if joined.
	position int
}

// batch is what a watcher must send next.
type batch struct {
	rewound *Item
	missing bool // the events before number before must be read with Earlier
	before  int
	items   []Item // shared with the feed
	end     *Item
	changed <-chan struct{} // closed when there is more
}

func (b *batch) empty() bool { return b.rewound == nil && len(b.items) == 0 && !b.missing }

// next returns the next batch, which is empty if there is nothing to send yet.
func (w *watcher) next() (b batch) {
	f := w.feed
	f.mu.Lock()
	defer f.mu.Unlock()
	b.changed = w.signal().next()
	end := f.recentBase + len(f.recent)
	if w.deltas && w.joined && w.position >= f.recentBase && end-w.position <= maxLag {
		b.items = f.recent[w.position-f.recentBase:]
	} else {
		if start, ok := f.rewoundTo(w.at); ok {
			item := rewoundItem(start.Seq - 1)
			b.rewound, w.at = &item, Cursor{Rewinds: start.Rewinds, Seq: start.Seq - 1}
		}
		n := f.index(w.at.Seq + 1)
		if first := f.firstHeld(); n == 0 && f.Earlier != nil && w.at.Seq+1 < first && w.at.Seq < f.last.Seq {
			b.missing, b.before = true, first
			return b
		}
		b.items = f.held[n:]
	}
	w.position, w.joined = end, w.at.Seq <= f.last.Seq
	b.end = f.end
	return b
}

func (w *watcher) signal() *signal {
	if w.deltas {
		return &w.feed.changed
	}
	return &w.feed.numbered
}

// send sends a batch and reports whether the watcher wants more.
func (w *watcher) send(b batch, yield func(Item) bool) bool {
	if b.rewound != nil {
		b.rewound.More = true // the event that replaces others is there
		if !yield(*b.rewound) {
			return false
		}
	}
	for i, item := range b.items {
		if item.Cursor.Seq != 0 {
			w.at = item.Cursor
		}
		item.More = i+1 < len(b.items) || b.end != nil
		if !yield(item) {
			return false
		}
	}
	return b.end == nil || yield(*b.end)
}

// rewoundTo returns the first event that replaces events up to c, if there is one.
func (f *Feed) rewoundTo(c Cursor) (Cursor, bool) {
	for _, start := range f.starts {
		if start.Rewinds > c.Rewinds {
			return start, c.Seq >= start.Seq
		}
	}
	return Cursor{}, false
}

// firstHeld returns the number of the first event that is held, or of the next event.
func (f *Feed) firstHeld() int {
	if len(f.held) > 0 {
		return f.held[0].Cursor.Seq
	}
	return f.last.Seq + 1
}

// expectWatchers makes an Unwatched feed hold the events from now on.
func (f *Feed) expectWatchers() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.Unwatched = false
}

// readEarlier sends the events between the last one sent and number before, which are no
// longer held. It reports whether the watcher wants more.
func (w *watcher) readEarlier(ctx context.Context, before int, yield func(Item) bool) bool {
	ctx, stop := context.WithCancel(ctx)
	items := make(chan Item)
	go func() {
		defer close(items)
		w.feed.Earlier(ctx, &earlierSink{ctx, w.at.Seq, before, items, stop})
	}()
	defer func() {
		stop()
		for range items { // wait for Earlier
		}
	}()
	for item := range items {
		w.at = item.Cursor
		item.More = true
		if !yield(item) {
			return false
		}
		if item.Cursor.Seq == before-1 {
			return true
		}
	}
	return false // Earlier failed, or the journal has changed
}

// earlierSink passes on the events with numbers between after and before.
type earlierSink struct {
	ctx           context.Context
	after, before int
	items         chan<- Item
	stop          func()
}

// Send implements engine.Sink.
func (s *earlierSink) Send(ev engine.Event) {
	if ev.Seq <= s.after || s.ctx.Err() != nil {
		return
	}
	if ev.Seq >= s.before {
		s.stop()
		return
	}
	select {
	case s.items <- encode(ev):
	case <-s.ctx.Done():
	}
}
