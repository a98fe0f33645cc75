package openai

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/pexctl/pex/engine/journal"
	"github.com/pexctl/pex/engine/jsonvalue"
	"github.com/pexctl/pex/engine/runs"
	"github.com/pexctl/pex/server/access"
	"github.com/pexctl/pex/server/auth"
	"github.com/pexctl/pex/server/feed"
	"github.com/pexctl/pex/server/problem"
	"github.com/pexctl/pex/server/turn"
)

// responseRequest is a request for a response.
type responseRequest struct {
	common
	Input        json.RawMessage `json:"input"`
	Previous     string          `json:"previous_response_id"`
	Conversation conversationKey `json:"conversation"`
	Background   bool            `json:"background"`
	Text         struct {
		Format struct {
			Type   string          `json:"type"`
			Schema json.RawMessage `json:"schema"`
		} `json:"format"`
	} `json:"text"`
}

var responseMembers = []string{"model", "stream", "metadata", "tools", "pex", "input", "previous_response_id", "conversation", "background", "text"}

// conversationKey is the id of a conversation: a text, or an object that has it.
type conversationKey struct{ ID string }

// UnmarshalJSON implements json.Unmarshaler.
func (k *conversationKey) UnmarshalJSON(b []byte) error {
	if json.Unmarshal(b, &k.ID) == nil {
		return nil
	}
	var object struct {
		ID string `json:"id"`
	}
	err := json.Unmarshal(b, &object)
	k.ID = object.ID
	return err
}

func (h *Handler) createResponse(w http.ResponseWriter, r *http.Request) (err error) {
	q := &responseRequest{}
	if q.body, err = h.read(w, r, q, responseMembers); err != nil {
		return err
	}
	if err := checkTools("tools", q.Tools); err != nil {
		return err
	}
	if q.Previous != "" && q.Conversation.ID != "" {
		return invalid("conversation", "mutually_exclusive_parameters", "use either previous_response_id or conversation")
	}
	c, err := h.client(r)
	if err != nil {
		return err
	}
	a, err := agentOf(c, auth.Run, q.Model)
	if err != nil {
		return err
	}
	if err := checkFormat(a, "text.format", q.Text.Format.Type, q.Text.Format.Schema); err != nil {
		return err
	}
	stream, err := c.OpenStream(r.Context())
	if err != nil {
		return err
	}
	defer stream.Release()
	s, err := q.begin(w, r, h, c, a)
	if err != nil {
		return err
	}
	id := responseID{s.run, s.after}
	switch {
	case q.Stream:
		return streamResponse(w, r, c, stream, s, id, -1)
	case q.Background:
		return replyResponse(w, r, c, id)
	}
	v, err := newView(c, id, func(event) {})
	if err != nil {
		return err
	}
	t, err := s.follow(c, stream, func(t *turn.Turn, change turn.Change) bool {
		v.apply(t, change)
		return true
	})
	if err == nil && t == nil {
		err = r.Context().Err()
	}
	if err != nil {
		return err
	}
	return reply(w, v.object(t))
}

// replyResponse responds with a response as it is now.
func replyResponse(w http.ResponseWriter, r *http.Request, c *access.Client, id responseID) error {
	o, err := read(r.Context(), c, id)
	if err != nil {
		return err
	}
	return reply(w, o)
}

// streamResponse responds with the events of a response whose number is higher than startingAfter.
func streamResponse(w http.ResponseWriter, r *http.Request, c *access.Client, stream access.Stream, s *segment, id responseID, startingAfter int) error {
	items := func(yield func(feed.Item) bool) {
		ok := true
		v, err := newView(c, id, func(e event) {
			if ok && e.Sequence > startingAfter {
				ok = yield(feed.Item{Type: e.Type, Data: jsonvalue.Encode(e)})
			}
		})
		if err != nil {
			return
		}
		v.begin()
		t, err := s.follow(c, stream, func(t *turn.Turn, change turn.Change) bool {
			v.apply(t, change)
			return ok
		})
		if err == nil && t != nil {
			v.end(t)
		}
	}
	_ = feed.Write(w, r, items, feed.DataStream, feed.OnFailure(stream.Release)) // the client is gone; the run continues
	return nil
}

// begin sends the events before those of the run.
func (v *view) begin() {
	v.output.seq, v.output.n = v.id.after, 0
	o := v.object(&turn.Turn{Run: v.id.run})
	kind := "response.in_progress"
	if o.Status == "queued" {
		kind = "response.queued"
	}
	v.output.emit(event{Type: "response.created", Response: o})
	v.output.emit(event{Type: kind, Response: o})
}

// end sends the last event. One without an end or a question comes when the run continues.
func (v *view) end(t *turn.Turn) {
	o := v.object(t)
	kind := "response." + o.Status
	switch o.Status {
	case "queued", "in_progress":
		return
	case "cancelled":
		kind = "response.incomplete"
	}
	if t.Status == "" { // an answer may continue the run
		v.output.seq, v.output.n = t.Seq, eventsPerChange-1
	}
	v.output.emit(event{Type: kind, Response: o})
}

// target returns the client and the response that a path names, which the client may view.
func (h *Handler) target(r *http.Request) (*access.Client, responseID, error) {
	c, err := h.client(r)
	if err != nil {
		return nil, responseID{}, err
	}
	name := r.PathValue("id")
	id, ok := parseResponse(name)
	if ok {
		ok, err = h.exists(c, id.run)
	}
	if err == nil && !ok {
		err = &apiError{status: http.StatusNotFound, code: "not_found", message: "response " + name + " not found"}
	}
	return c, id, err
}

// exists reports whether a run exists for a client of the protocol.
func (h *Handler) exists(c *access.Client, run string) (bool, error) {
	err := c.CheckRun(auth.View, run)
	p, isProblem := errors.AsType[*problem.Problem](err)
	if isProblem && p.Code == problem.NotFound || errors.As(err, new(*runs.NotFoundError)) || errors.As(err, new(*journal.IDError)) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	start, err := c.Runs.StartOf(run)
	a, ok := c.Agents().Get(start.Input.Agent)
	return ok && a.Exposes(protocol), err
}

func (h *Handler) getResponse(w http.ResponseWriter, r *http.Request) error {
	c, id, err := h.target(r)
	if err != nil {
		return err
	}
	if r.URL.Query().Get("stream") != "true" {
		return replyResponse(w, r, c, id)
	}
	startingAfter := -1
	if text := r.URL.Query().Get("starting_after"); text != "" {
		if startingAfter, err = strconv.Atoi(text); err != nil || startingAfter < 0 {
			return invalid("starting_after", "invalid_value", "starting_after must be the number of an event")
		}
	}
	stream, err := c.OpenStream(r.Context())
	if err != nil {
		return err
	}
	defer stream.Release()
	s, err := existing(r.Context(), c, id.run)
	if err != nil {
		return err
	}
	s.after = id.after
	return streamResponse(w, r, c, stream, s, id, startingAfter)
}

// cancelWait is how long a request waits for the end of a run that it has cancelled.
const cancelWait = 10 * time.Second

func (h *Handler) cancelResponse(w http.ResponseWriter, r *http.Request) error {
	c, id, err := h.target(r)
	if err != nil {
		return err
	}
	if err := c.Cancel(r.Context(), id.run); err != nil && !errors.As(err, new(*runs.EndedError)) {
		return err
	}
	ctx, stop := context.WithTimeout(r.Context(), cancelWait)
	defer stop()
	c.Manager.Await(ctx, id.run)
	return replyResponse(w, r, c, id)
}

func (h *Handler) deleteResponse(w http.ResponseWriter, r *http.Request) error {
	c, id, err := h.target(r)
	if err == nil {
		err = c.CheckRun(auth.Admin, id.run)
	}
	if err == nil {
		err = c.Manager.Remove(r.Context(), id.run, false)
	}
	if err != nil {
		return err
	}
	return reply(w, struct {
		ID      string `json:"id"`
		Object  string `json:"object"`
		Deleted bool   `json:"deleted"`
	}{id.String(), "response", true})
}

// inputItem is an item of the input of a response.
type inputItem struct {
	Type    string `json:"type"`
	ID      string `json:"id"`
	Role    string `json:"role"`
	Status  string `json:"status"`
	Content []part `json:"content"`
}

// inputItems responds with the messages with which the run of a response started, newest first
// unless the client wants another order.
func (h *Handler) inputItems(w http.ResponseWriter, r *http.Request) error {
	c, id, err := h.target(r)
	if err != nil {
		return err
	}
	start, err := c.Runs.StartOf(id.run)
	if err != nil {
		return err
	}
	all := []inputItem{}
	add := func(role, kind, text string) {
		all = append(all, inputItem{"message", "msg_" + id.run + "_in" + strconv.Itoa(len(all)), role, "completed", []part{{Type: kind, Text: text}}})
	}
	for _, turn := range start.Input.Earlier {
		add("user", "input_text", turn.Question)
		add("assistant", "output_text", turn.Answer)
	}
	add("user", "input_text", runs.Question(start.Input))
	if r.URL.Query().Get("order") != "asc" {
		slices.Reverse(all)
	}
	return reply(w, struct {
		Object  string      `json:"object"`
		Data    []inputItem `json:"data"`
		FirstID string      `json:"first_id"`
		LastID  string      `json:"last_id"`
		HasMore bool        `json:"has_more"`
	}{"list", all, all[0].ID, all[len(all)-1].ID, false})
}
