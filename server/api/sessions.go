package api

import (
	"cmp"
	"context"
	"net/http"

	"github.com/pexctl/pex/engine/runs"
	"github.com/pexctl/pex/server/access"
	"github.com/pexctl/pex/server/agents"
	"github.com/pexctl/pex/server/feed"
)

const sessionEventsText = `The events of all turns, in order, as server-sent events or JSON Lines; see watchRun. The feed stays open between turns, and goes
on with the next one. The id of an event is RUN:REWINDS.SEQ: its run, and the id that it has there. After the events of a turn follows turn {"run_id": ...,
"status": ...}: the run has ended, waits for an answer, or is suspended. An event rewound also has the run_id.`

const sessionMessageText = `Starts a turn of the session if none is under way. Otherwise, the message is sent to the run under way, as
POST /v1/runs/{run}/messages does; if that run ends at this moment, the message starts a turn. Exactly one of both happens, once, however often a request with the same id
is repeated. The response is sent once the message is durable: 201 or 200 if it starts a turn, or did, 202 if a run received it.`

// SessionPath names the session of a request.
type SessionPath struct {
	ID string `path:"id" maxLength:"200" doc:"Id of a session: the memory_id of its runs."`
}

func (a *operations) addSessions() {
	s := a.server
	add(a, describe{
		id: "getSession", method: http.MethodGet, path: "/v1/sessions/{id}", tag: "sessions", summary: "Get a session: one conversation of one agent",
		text: "A session has a turn for each run with its id as memory_id.", responses: map[int]any{200: Session{}}, problems: []int{404, 422},
	}, s.getSession)
	add(a, describe{
		id: "watchSession", method: http.MethodGet, path: "/v1/sessions/{id}/events", tag: "sessions", summary: "Watch the events of a session", text: sessionEventsText,
		responses: map[int]any{200: nil}, streams: true, problems: []int{400, 404, 422},
	}, s.watchSession)
	add(a, describe{
		id: "messageSession", method: http.MethodPost, path: "/v1/sessions/{id}/messages", tag: "sessions", summary: "Send a message to a session", text: sessionMessageText,
		responses: map[int]any{200: SessionDelivery{}, 201: SessionDelivery{}, 202: SessionDelivery{}}, problems: []int{403, 404, 409, 422, 429, 503, 507},
	}, s.messageSession)
}

// Session is a conversation of an agent.
type Session struct {
	ID        string         `json:"id"`
	Agent     string         `json:"agent"`
	Active    string         `json:"active_run,omitempty" doc:"The run under way: it executes, is queued or suspended, or waits for an answer."`
	Turns     []runs.Summary `json:"turns" doc:"The runs of the session, oldest first, as pexctl runs ls -o json; at most the latest limit."`
	Questions []Question     `json:"questions" doc:"The open questions of the run under way."`
}

type getSessionRequest struct {
	SessionPath
	Agent string `query:"agent" doc:"The agent, if several have turns in the conversation."`
	Limit int    `query:"limit" default:"100" minimum:"1" maximum:"500" doc:"Maximum number of turns."`
}

func (s *server) getSession(ctx context.Context, in *getSessionRequest) (reply, error) {
	c, err := s.Client(ctx)
	if err != nil {
		return nil, err
	}
	found, err := c.Session(ctx, in.ID, in.Agent)
	if err != nil {
		return nil, err
	}
	out := Session{ID: found.ID, Agent: found.Agent, Active: found.Active(), Turns: found.Turns, Questions: []Question{}}
	out.Turns = out.Turns[max(0, len(out.Turns)-in.Limit):]
	if out.Active == "" {
		return replyJSON(http.StatusOK, out)
	}
	open, err := c.Questions(ctx)
	if err != nil {
		return nil, err
	}
	for _, o := range open {
		if o.Run == out.Active {
			out.Questions = append(out.Questions, questionOf(o))
		}
	}
	return replyJSON(http.StatusOK, out)
}

type watchSessionRequest struct {
	SessionPath
	Agent       string `query:"agent" doc:"The agent, if several have turns in the conversation."`
	LastEventID string `header:"Last-Event-ID" doc:"Id of the last event that the client received."`
	After       string `query:"after" doc:"The same, for clients that cannot set the header."`
	Deltas      string `query:"deltas" enum:"0,1,true,false" default:"1" doc:"0: omit transient events, such as parts of replies."`
	Follow      string `query:"follow" enum:"0,1,true,false" default:"1" doc:"0: end when the turn under way ends or waits, or after the last turn."`
}

func (s *server) watchSession(ctx context.Context, in *watchSessionRequest) (reply, error) {
	c, err := s.Client(ctx)
	if err != nil {
		return nil, err
	}
	found, err := c.Session(ctx, in.ID, in.Agent)
	if err != nil {
		return nil, err
	}
	after, err := access.ParseSessionCursor(cmp.Or(in.LastEventID, in.After))
	if err != nil {
		return nil, err
	}
	stream, err := c.OpenStream(ctx)
	if err != nil {
		return nil, err
	}
	return func(w http.ResponseWriter, r *http.Request) {
		defer stream.Release()
		items, err := c.WatchSession(stream.Context, found, access.SessionWatch{After: after, Deltas: isTrue(in.Deltas), Follow: isTrue(in.Follow)})
		if err != nil {
			s.Fail(w, r, err)
			return
		}
		_ = feed.Write(w, r, items, feed.FormatOf(r), feed.OnFailure(stream.Release)) // the client is gone
	}, nil
}

func isTrue(s string) bool { return s == "1" || s == "true" }

// SessionMessage is a message to a session.
type SessionMessage struct {
	Agent     string    `json:"agent,omitempty" doc:"The agent of the session. Default: that of its turns; required for the first one."`
	ID        string    `json:"id,omitempty" doc:"Identifies the message within the session, so that a repeated request delivers it once. Default: a new id."`
	Text      string    `json:"text" minLength:"1" doc:"What the user says, at most 32 KiB."`
	Interrupt bool      `json:"interrupt,omitempty" doc:"Ends the model calls that are under way. They are sent again with the message. Tool calls continue."`
	Files     []RunFile `json:"files,omitempty" maxItems:"100" doc:"Files for the turn that the message starts, from uploaded artifacts. A run under way accepts none."`
}

// SessionDelivery says what a message to a session became.
type SessionDelivery struct {
	ID      string `json:"id"`
	Run     string `json:"run_id"`
	Started bool   `json:"started" doc:"The message is the question of the run; otherwise the run received it."`
}

type sessionMessageRequest struct {
	SessionPath
	Body SessionMessage
}

func (s *server) messageSession(ctx context.Context, in *sessionMessageRequest) (reply, error) {
	c, err := s.Client(ctx)
	if err != nil {
		return nil, err
	}
	m := access.SessionMessage{Agent: in.Body.Agent, Message: runs.Message{ID: in.Body.ID, Text: in.Body.Text, Interrupt: in.Body.Interrupt}}
	if m.ID == "" {
		m.ID = runs.NewMessageID()
	}
	for _, f := range in.Body.Files {
		m.Files = append(m.Files, agents.File(f))
	}
	d, err := c.Say(ctx, in.ID, m)
	if err != nil {
		return nil, err
	}
	status := http.StatusAccepted
	switch {
	case d.Existed:
		status = http.StatusOK
	case d.Started:
		status = http.StatusCreated
	}
	return replyAt(status, d.Run, SessionDelivery{m.ID, d.Run, d.Started})
}
