package apiclient

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"

	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/interrupt"
	"github.com/pexctl/pex/engine/runs"
	"github.com/pexctl/pex/engine/stop"
)

// Session is a conversation of an agent: its runs are its turns.
type Session struct {
	ID        string         `json:"id"`
	Agent     string         `json:"agent"`
	Active    string         `json:"active_run"` // run under way; "" = none
	Turns     []runs.Summary `json:"turns"`      // oldest first
	Questions []Question     `json:"questions"`  // of the run under way
}

// Question is an open question of a run.
type Question struct {
	interrupt.Question

	Run    string `json:"run_id"`
	Agent  string `json:"agent"`
	Digest string `json:"digest"` // identifies the content; send it with the answer
}

// SessionMessage is a message to a session.
type SessionMessage struct {
	ID        string `json:"id"`              // unique within the session; a repeated message is delivered once
	Agent     string `json:"agent,omitempty"` // required for the first message
	Text      string `json:"text"`
	Interrupt bool   `json:"interrupt,omitempty"` // end the model calls under way
	Files     []File `json:"files,omitempty"`     // of the message that starts a turn
}

// SessionDelivery says what a message became: the question of a run, or a message to one.
type SessionDelivery struct {
	ID      string `json:"id"`
	Run     string `json:"run_id"`
	Started bool   `json:"started"`
}

// Session returns a session. agent selects one of several with turns in the conversation; "" = the
// only one.
func (c *Client) Session(ctx context.Context, id, agent string) (*Session, error) {
	path := sessionPath(id, "")
	if agent != "" {
		path += "?agent=" + url.QueryEscape(agent)
	}
	_, b, err := c.call(ctx, http.MethodGet, path, nil)
	if err != nil {
		return nil, err
	}
	s := &Session{}
	return s, decode(c.base, b, s)
}

// Say sends a message to the run under way of a session, or starts a run with it. It is durable
// when Say returns. A broken connection is repeated: the id makes sure that the message is
// delivered once.
func (c *Client) Say(ctx context.Context, session string, m SessionMessage) (d SessionDelivery, err error) {
	err = c.retry(ctx, func() error {
		_, b, err := c.call(ctx, http.MethodPost, sessionPath(session, "/messages"), m)
		if err != nil {
			return err
		}
		return decode(c.base, b, &d)
	})
	return d, err
}

// SessionWatcher receives the events of a session.
type SessionWatcher struct {
	After string             // cursor of the last event that was received; "" = from the start
	Event func(engine.Event) // required
	// Turn is called when the run of a turn has ended, waits for an answer, or is suspended. It may
	// be called again with the same values. Nil = not at all.
	Turn func(run string, status stop.RunStatus)
	// Rewound is called if the events of a run after a number are void. Nil = not at all.
	Rewound func(run string, after int)
	// Broken is called when a connection breaks, before it is repeated. Nil = not at all.
	Broken func(error)
}

// WatchSession sends the events of a session to a watcher until ctx ends, and returns why it
// stopped. If a connection breaks, it continues after the last event: no event is lost or
// repeated. w.After is updated.
func (c *Client) WatchSession(ctx context.Context, id string, w *SessionWatcher) error {
	for failed := 0; ; {
		header := http.Header{"Accept": {"application/jsonl"}}
		if w.After != "" {
			header.Set("Last-Event-ID", w.After)
		}
		progress, err := c.readLines(ctx, sessionPath(id, "/events"), header, w.line)
		if progress {
			failed = 0
		}
		if failed++; failed >= maxAttempts || !isTemporary(err) || ctx.Err() != nil {
			return err
		}
		if w.Broken != nil && failed == 1 {
			w.Broken(err)
		}
		if err := c.pause(ctx, delay(failed)); err != nil {
			return err
		}
	}
}

// line handles a line of a feed.
func (w *SessionWatcher) line(b []byte) (last bool, err error) {
	if len(bytes.TrimSpace(b)) == 0 {
		return false, nil
	}
	var head struct {
		Type   string         `json:"type"`
		Run    string         `json:"run_id"`
		After  int            `json:"after"`
		Status stop.RunStatus `json:"status"`
	}
	if err := json.Unmarshal(b, &head); err != nil {
		return false, fmt.Errorf("invalid event: %w", err)
	}
	switch head.Type {
	case "ping":
		return false, nil
	case "turn":
		if w.Turn != nil {
			w.Turn(head.Run, head.Status)
		}
		return false, nil
	case "rewound":
		if w.Rewound != nil {
			w.Rewound(head.Run, head.After)
		}
		return false, nil
	}
	var e engine.Event
	if err := json.Unmarshal(b, &e); err != nil {
		return false, fmt.Errorf("invalid event: %w", err)
	}
	if e.Seq > 0 {
		w.After = fmt.Sprintf("%s:%d.%d", e.Run, e.Rewinds, e.Seq)
	}
	w.Event(e)
	return false, nil
}

func sessionPath(id, rest string) string { return "/v1/sessions/" + url.PathEscape(id) + rest }
