package feed_test

import (
	"context"
	"slices"
	"testing"

	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/server/feed"
)

// A feed without watchers encodes nothing. A watcher that comes later misses no event.
func TestAnUnwatchedFeedHoldsNothingUntilItIsWatched(t *testing.T) {
	var journal []engine.Event
	f := feed.New()
	f.Unwatched = true
	f.Earlier = func(_ context.Context, sink engine.Sink) {
		for _, ev := range journal {
			sink.Send(ev)
		}
	}
	send := func(seq int) {
		ev := engine.Event{V: engine.EventVersion, Seq: seq, Run: "r", Type: engine.Warning}
		journal = append(journal, ev)
		f.Send(ev)
	}
	for seq := range 5 {
		send(seq + 1)
	}
	if n, _ := f.Held(); n != 0 {
		t.Errorf("%d events are held", n)
	}
	var got []int
	for item := range f.Watch(t.Context(), feed.Cursor{Seq: 2}, true) {
		if item.Type == feed.End {
			break
		}
		if got = append(got, item.Cursor.Seq); item.Cursor.Seq == 5 {
			send(6)
			f.End("completed")
		}
	}
	if n, _ := f.Held(); n != 1 || !slices.Equal(got, []int{3, 4, 5, 6}) {
		t.Errorf("%v, %d held", got, n)
	}
	if err := f.Check(t.Context(), feed.Cursor{Seq: 3}); err != nil {
		t.Error(err)
	}
}
