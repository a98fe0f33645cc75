package access

import (
	"context"
	"encoding/json"
	"errors"
	"iter"
	"slices"
	"strings"
	"time"

	"github.com/pexctl/pex/engine/jsonvalue"
	"github.com/pexctl/pex/engine/runs"
	"github.com/pexctl/pex/engine/stop"
	"github.com/pexctl/pex/server/feed"
)

// SessionCursor is the position of a numbered event of a session. The zero SessionCursor is the
// position before the first event.
type SessionCursor struct {
	Run   string // of the turn
	Event feed.Cursor
}

// String returns "RUN:REWINDS.SEQ", such as "r-1:0.41".
func (c SessionCursor) String() string { return c.Run + ":" + c.Event.String() }

// ParseSessionCursor parses the result of SessionCursor.String; "" is the zero SessionCursor. The
// error is a *feed.CursorError.
func ParseSessionCursor(s string) (c SessionCursor, err error) {
	if s == "" {
		return c, nil
	}
	run, event, ok := strings.Cut(s, ":")
	if c.Event, err = feed.ParseCursor(event); !ok || run == "" || err != nil {
		return SessionCursor{}, &feed.CursorError{Value: s}
	}
	c.Run = run
	return c, nil
}

// SessionWatch says what a watcher of a session receives.
type SessionWatch struct {
	After  SessionCursor
	Deltas bool // transient events, too
	Follow bool // go on between turns, until the context ends
}

// WatchSession returns the events of a session after a cursor: those of each turn, followed by a
// Turn item when its run ends, waits or is suspended. A turn begins when the one before it has
// ended. The error is one of feed for an invalid cursor.
func (c *Client) WatchSession(ctx context.Context, s *Session, o SessionWatch) (iter.Seq[feed.Item], error) {
	w := &sessionWatcher{SessionWatch: o, c: c, s: s, ctx: ctx}
	if o.After.Run == "" {
		return w.watch, nil
	}
	i := slices.IndexFunc(s.Turns, func(t runs.Summary) bool { return t.Run == o.After.Run })
	if i < 0 {
		return nil, &feed.CursorError{Value: o.After.String()}
	}
	w.began = s.Turns[i].StartedAt
	var err error
	w.first, err = c.Manager.Watch(ctx, o.After.Run, o.After.Event, o.Deltas)
	return w.watch, err
}

// sessionWatcher is the position of a watcher of a session.
type sessionWatcher struct {
	SessionWatch // After is the last event that was sent

	c     *Client
	s     *Session
	ctx   context.Context
	first iter.Seq[feed.Item] // the events of the first turn after the cursor; nil = from the start
	began time.Time           // when the current turn began
	told  stop.RunStatus      // of the last Turn item, if no event followed it
	yield func(feed.Item) bool
}

// watch sends the items to yield.
func (w *sessionWatcher) watch(yield func(feed.Item) bool) {
	w.yield = yield
	for first := true; ; first = false {
		changed := w.c.Manager.ConversationChanged(w.s.ID) // first, so that no change is missed
		if !first || w.Follow {
			s, err := w.c.session(w.ctx, w.s.ID, w.s.Agent)
			if err != nil {
				return
			}
			w.s = s
		}
		if !w.sendTurns() || !w.Follow {
			return
		}
		select {
		case <-changed:
		case <-w.ctx.Done():
			return
		}
	}
}

// sendTurns sends the events of the turns from the current one, up to one that has not ended. It
// reports whether the watcher wants more.
func (w *sessionWatcher) sendTurns() bool {
	for _, t := range w.s.Turns {
		isCurrent := t.Run == w.After.Run
		if t.Problem != "" || !isCurrent && !t.StartedAt.After(w.began) || isCurrent && t.StartedAt.Before(w.began) {
			continue // it cannot be read, or was sent
		}
		w.began = t.StartedAt
		status, more := w.sendTurn(t.Run)
		if !more {
			return false
		}
		if !hasEnded(status) {
			return true
		}
	}
	return true
}

// sendTurn sends the events of a turn, and returns its status.
func (w *sessionWatcher) sendTurn(run string) (status stop.RunStatus, more bool) {
	if w.After.Run != run {
		w.After, w.told = SessionCursor{Run: run}, ""
	}
	items := w.first
	if w.first = nil; items == nil {
		var err error
		items, err = w.c.Manager.Watch(w.ctx, run, w.After.Event, w.Deltas)
		if errors.As(err, new(*runs.NotFoundError)) {
			return stop.RunCancelled, true // it was deleted
		}
		if err != nil {
			return "", false
		}
	}
	for item := range items {
		switch {
		case item.Type == feed.End:
			status = statusOf(item)
			if status == w.told {
				continue
			}
			w.told = status
			item = feed.Item{Type: feed.Turn, Data: jsonvalue.Encode(turnEnd{run, status})}
		case item.Type == feed.Rewound:
			var at rewound
			_ = json.Unmarshal(item.Data, &at) // package feed wrote it
			at.Run, w.told = run, ""
			item.Data = jsonvalue.Encode(at)
		case item.Cursor.Seq != 0:
			w.After, w.told = SessionCursor{run, item.Cursor}, ""
			item.ID = w.After.String()
		}
		if !w.yield(item) {
			return "", false
		}
	}
	return status, status != "" && w.ctx.Err() == nil
}

// turnEnd is the data of a Turn item.
type turnEnd struct {
	Run    string         `json:"run_id"`
	Status stop.RunStatus `json:"status"`
}

// rewound is the data of a Rewound item of a session.
type rewound struct {
	Run   string `json:"run_id"`
	After int    `json:"after"`
}

func statusOf(end feed.Item) stop.RunStatus {
	var data turnEnd
	_ = json.Unmarshal(end.Data, &data) // package feed wrote it
	return data.Status
}
