package feed_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/jsonvalue"
	"github.com/pexctl/pex/server/feed"
)

// event returns a numbered event.
func event(rewinds, seq int, text string) engine.Event {
	return engine.Event{
		V: engine.EventVersion, Seq: seq, Rewinds: rewinds, At: time.Unix(int64(seq), 0).UTC(), Run: "r-1",
		Type: engine.Warning, Text: text,
	}
}

func completed(rewinds, seq int) engine.Event {
	ev := event(rewinds, seq, "")
	ev.Type = engine.RunCompleted
	return ev
}

func delta(text string) engine.Event {
	return engine.Event{V: engine.EventVersion, Run: "r-1", Type: engine.ModelDelta, Text: text}
}

// name returns a short form of an item: its cursor, or its type and data.
func name(i feed.Item) string {
	switch {
	case i.Type == feed.End || i.Type == feed.Rewound:
		return i.Type + string(i.Data)
	case i.Cursor == feed.Cursor{}:
		var ev engine.Event
		if err := jsonvalue.Unmarshal(i.Data, &ev); err != nil {
			return err.Error()
		}
		return ev.Text
	default:
		return i.Cursor.String()
	}
}

// watch collects all items of an ended feed.
func watch(ctx context.Context, f *feed.Feed, after feed.Cursor, deltas bool) string {
	var out []string
	for i := range f.Watch(ctx, after, deltas) {
		out = append(out, name(i))
	}
	return strings.Join(out, " ")
}

// client is a program that watches a run and reconnects. It stores what it received.
type client struct {
	busy     sync.Mutex // held while connected
	at       feed.Cursor
	received []string // numbered events
	ends     []string
	problems []string
}

// receive processes an item as docs say.
func (c *client) receive(i feed.Item) {
	switch {
	case i.Type == feed.Rewound:
		var data struct{ After int }
		if err := jsonvalue.Unmarshal(i.Data, &data); err != nil || data.After > len(c.received) {
			c.problems = append(c.problems, fmt.Sprintf("rewound %s with %d events: %v", i.Data, len(c.received), err))
			return
		}
		c.received = slices.Clip(c.received[:data.After])
	case i.Type == feed.End:
		c.ends = append(c.ends, string(i.Data))
	case i.Cursor != feed.Cursor{}:
		c.received, c.at = append(c.received, string(i.Data)), i.Cursor
		if i.Cursor.Seq != len(c.received) {
			c.problems = append(c.problems, fmt.Sprintf("event %s is number %d", i.Cursor, len(c.received)))
		}
	}
}
