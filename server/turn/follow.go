package turn

import (
	"context"
	"encoding/json"
	"iter"

	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/runs"
	"github.com/pexctl/pex/server/access"
	"github.com/pexctl/pex/server/feed"
)

// Follow returns the changes of a run after event number after, as they happen, each with
// the state that includes it. It ends after Paused or Ended, or when the stream ends. If the
// run is rewound, the changes that replace the void ones follow. The caller must not
// change the Turn, nor use it after the next change.
func Follow(c *access.Client, s access.Stream, run string, after int) (iter.Seq2[*Turn, Change], error) {
	items, err := c.Watch(s, run, feed.Cursor{}, true)
	if err != nil {
		return nil, err
	}
	return func(yield func(*Turn, Change) bool) {
		for {
			restart, ok := follow(items, &after, yield)
			if !ok || !restart {
				return
			}
			if items, err = c.Watch(s, run, feed.Cursor{}, true); err != nil {
				return
			}
		}
	}, nil
}

// follow yields the changes of items after event number *after, which it advances. restart is
// true if the items must be read again, since the run was rewound.
func follow(items iter.Seq[feed.Item], after *int, yield func(*Turn, Change) bool) (restart, ok bool) {
	t := &Turn{}
	for item := range items {
		switch item.Type {
		case feed.Rewound:
			var rewound struct {
				After int `json:"after"`
			}
			if json.Unmarshal(item.Data, &rewound) == nil {
				*after = min(*after, rewound.After)
			}
			return true, true
		case feed.End:
			var end struct {
				Status string `json:"status"`
			}
			if json.Unmarshal(item.Data, &end) == nil && t.Status == "" {
				return false, yield(t, Change{Kind: Paused, At: t.At, Text: end.Status})
			}
			return false, true
		}
		var ev engine.Event
		if json.Unmarshal(item.Data, &ev) != nil { // it is ours
			continue
		}
		change, isShown := t.Apply(&ev)
		isNew := ev.Seq > *after || ev.Seq == 0
		*after = max(*after, ev.Seq)
		if isShown && isNew && !yield(t, change) {
			return false, false
		}
	}
	return false, true
}

// Read returns the state of a run, and its changes so far.
func Read(ctx context.Context, c *access.Client, run string) (*Turn, []Change, error) {
	var changes []Change
	t, err := Replay(ctx, c, run, func(_ *Turn, c Change) { changes = append(changes, c) })
	return t, changes, err
}

// Replay calls show with the changes of a run so far, each with the state that includes it,
// and returns the state of the run.
func Replay(ctx context.Context, c *access.Client, run string, show func(*Turn, Change)) (*Turn, error) {
	r, err := c.Read(run)
	if err != nil {
		return nil, err
	}
	return Of(ctx, r, show), ctx.Err()
}

// Of is Replay of a run that the caller has read.
func Of(ctx context.Context, r *runs.Run, show func(*Turn, Change)) *Turn {
	f := fold{turn: &Turn{}, show: show}
	r.Watch(ctx, nil, &f)
	return f.turn
}

// fold is a sink that applies all events of a run.
type fold struct {
	turn *Turn
	show func(*Turn, Change)
}

var _ interface {
	engine.Sink
	engine.ReplaySink
} = (*fold)(nil)

// Send implements engine.Sink.
func (f *fold) Send(ev engine.Event) {
	if ev.Seq == 0 {
		return
	}
	if c, ok := f.turn.Apply(&ev); ok {
		f.show(f.turn, c)
	}
}

// Replay implements engine.ReplaySink.
func (f *fold) Replay(ev engine.Event) { f.Send(ev) }
