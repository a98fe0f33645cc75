package api

import (
	"cmp"
	"context"
	"net/http"
	"strings"

	"github.com/pexctl/pex/server/access"
	"github.com/pexctl/pex/server/auth"
	"github.com/pexctl/pex/server/feed"
)

const eventsText = `Server-sent events, or JSON Lines with Accept: application/jsonl. The feed starts with the first event, or after
the event with the id in Last-Event-ID or after, and ends when the run ends, waits for an answer, or is suspended.
Numbered events have an id and are the same for all clients and after a restart of the server. Deltas and other transient events have
none. An event rewound {"after": N} voids the events after number N. The last event is end {"status": ...}. If the connection breaks,
repeat the request with the last id.`

func (a *operations) addEvents() {
	add(a, describe{
		id: "watchRun", method: http.MethodGet, path: "/v1/runs/{run}/events", tag: "runs", summary: "Watch the events of a run", text: eventsText,
		responses: map[int]any{200: nil}, streams: true, problems: []int{400, 404},
	}, a.server.watchRun)
}

type watchRequest struct {
	RunPath
	LastEventID string `header:"Last-Event-ID" doc:"Id of the last event that the client received."`
	After       string `query:"after" doc:"The same, for clients that cannot set the header."`
	Deltas      string `query:"deltas" enum:"0,1,true,false" default:"1" doc:"0: omit transient events, such as parts of replies."`
	Accept      string `header:"Accept"`
}

func (s *server) watchRun(ctx context.Context, in *watchRequest) (reply, error) {
	c, err := s.Client(ctx)
	if err != nil {
		return nil, err
	}
	if err := c.CheckRun(auth.View, in.Run); err != nil { // before it takes a stream
		return nil, err
	}
	after := feed.Cursor{}
	if id := cmp.Or(in.LastEventID, in.After); id != "" {
		if after, err = feed.ParseCursor(id); err != nil {
			return nil, err
		}
	}
	stream, err := c.OpenStream(ctx)
	if err != nil {
		return nil, err
	}
	return s.feed(c, stream, in.Run, after, in.Deltas == "1" || in.Deltas == "true", ""), nil
}

// feed responds with the events of a run after a cursor. location is the place of a new
// run, or "".
func (s *server) feed(c *access.Client, stream access.Stream, id string, after feed.Cursor, deltas bool, location string) reply {
	return func(w http.ResponseWriter, r *http.Request) {
		defer stream.Release()
		items, err := c.Manager.Watch(stream.Context, id, after, deltas)
		if err != nil {
			s.Fail(w, r, err)
			return
		}
		if location != "" {
			w.Header().Set("Location", location)
		}
		_ = feed.Write(w, r, items, feed.FormatOf(r), feed.OnFailure(stream.Release)) // the client is gone
	}
}

// wantsFeed reports whether a client accepts a feed.
func wantsFeed(accept string) bool {
	return strings.Contains(accept, "text/event-stream") || strings.Contains(accept, "application/jsonl") || strings.Contains(accept, "application/x-ndjson")
}
