package access

import (
	"context"
	"errors"
	"slices"

	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/jsonvalue"
	"github.com/pexctl/pex/engine/runs"
	"github.com/pexctl/pex/engine/runtime"
	"github.com/pexctl/pex/engine/stop"
	"github.com/pexctl/pex/server/agents"
	"github.com/pexctl/pex/server/auth"
	"github.com/pexctl/pex/server/manager"
	"github.com/pexctl/pex/server/problem"
)

// Session is a conversation of an agent. Its runs are its turns: one follows another.
type Session struct {
	ID    string // of the conversation
	Agent string
	Turns []runs.Summary // oldest first
}

// Session returns a session that the client may view. agent selects one of several agents with
// turns in the conversation; "" = the only one.
func (c *Client) Session(ctx context.Context, id, agent string) (*Session, error) {
	if agent != "" {
		if _, err := c.Agent(auth.View, agent); err != nil {
			return nil, err
		}
	}
	s, err := c.session(ctx, id, agent)
	if err == nil && len(s.Turns) == 0 {
		return nil, problem.New(problem.NotFound, "no session %q", id)
	}
	return s, err
}

// session is Session, also of one without turns.
func (c *Client) session(ctx context.Context, id, agent string) (*Session, error) {
	turns, _, err := c.List(ctx, runs.Filter{Match: func(sum runs.Summary) bool {
		return runtime.ConversationID(engine.Input{RunID: sum.Run, MemoryID: sum.MemoryID}) == id
	}}, agent, "")
	if err != nil {
		return nil, err
	}
	slices.Reverse(turns)
	for _, sum := range turns {
		switch of := c.AgentOf(Owner{sum.Agent, sum.Spec.Name}); {
		case agent == "":
			agent = of
		case agent != of:
			return nil, problem.New(problem.InvalidRequest, "conversation %q has turns of several agents; name one: %s, %s", id, agent, of)
		}
	}
	return &Session{ID: id, Agent: agent, Turns: turns}, nil
}

// Active returns the run of the turn under way: it executes, is queued or suspended, or waits for
// an answer. "" = none.
func (s *Session) Active() string {
	for _, sum := range s.Turns {
		if !hasEnded(sum.Status) {
			return sum.Run
		}
	}
	return ""
}

// hasEnded reports whether the next turn may follow a run with a status.
func hasEnded(status stop.RunStatus) bool {
	switch status {
	case runs.Running, manager.Queued, manager.Suspended, stop.RunInterrupted:
		return false
	default:
		return true
	}
}

// SessionMessage is a message to a session.
type SessionMessage struct {
	runs.Message

	Agent string // "" = that of the session
	Files []agents.File
}

// Delivery says what a message to a session became.
type Delivery struct {
	Run     string
	Started bool // the message is the question of the run; otherwise it was sent to the run
	Existed bool // an earlier request started the run
}

// maxDeliveries is how often a message finds that the run under way has ended just now.
const maxDeliveries = 10

// Say sends a message to the turn under way of a session, or starts a turn with it if there is
// none. It is durable when Say returns. A message with a known id is delivered once.
func (c *Client) Say(ctx context.Context, session string, m SessionMessage) (Delivery, error) {
	s, err := c.session(ctx, session, m.Agent)
	if err != nil {
		return Delivery{}, err
	}
	if m.Agent == "" && len(s.Turns) == 0 {
		return Delivery{}, problem.New(problem.NotFound, "no session %q; a message with an agent starts one", session)
	}
	a, err := c.Agent(auth.Run, s.Agent)
	if err != nil {
		return Delivery{}, err
	}
	if err := engine.CheckUserMessage(m.ID, m.Text); err != nil {
		return Delivery{}, &runs.MessageError{Err: err}
	}
	start, err := c.Prepare(ctx, a, NewRun{
		Key: "session\x00" + session + "\x00" + m.ID, Question: m.Text, MemoryID: session, Files: m.Files,
		Body: jsonvalue.Encode(map[string]any{"text": m.Text, "files": m.Files}),
	})
	if err != nil {
		return Delivery{}, err
	}
	unlock, err := c.Manager.LockTurns(ctx, session)
	if err != nil {
		return Delivery{}, err
	}
	defer unlock()
	return c.deliver(ctx, start, session, m)
}

// deliver delivers a message. The caller holds the lock of the conversation.
func (c *Client) deliver(ctx context.Context, start *Start, session string, m SessionMessage) (Delivery, error) {
	conflict := &runs.MessageConflictError{Run: start.RunID, ID: m.ID}
	existed, err := c.Manager.Existing(engine.Input{RunID: start.RunID, Request: start.request.Digest})
	switch {
	case errors.As(err, new(*manager.MismatchError)):
		return Delivery{}, conflict
	case existed || err != nil:
		return Delivery{Run: start.RunID, Started: true, Existed: true}, err
	}
	for range maxDeliveries {
		s, err := c.session(ctx, session, start.agent.Name)
		if err != nil {
			return Delivery{}, err
		}
		run, err := c.receivedBy(s, m)
		if run != "" || err != nil {
			return Delivery{Run: run}, err
		}
		if run = s.Active(); run == "" {
			existed, err = start.run(ctx)
			if errors.As(err, new(*manager.MismatchError)) {
				err = conflict
			}
			return Delivery{Run: start.RunID, Started: true, Existed: existed}, err
		}
		if len(m.Files) > 0 {
			return Delivery{}, problem.New(problem.Running, "run %s is under way, and only the message that starts a turn can have files; send it when the run has ended", run)
		}
		err = c.Message(ctx, run, m.Message)
		if !errors.As(err, new(*runs.EndedError)) {
			return Delivery{Run: run}, err
		}
	}
	return Delivery{}, problem.New(problem.ConversationBusy, "conversation %q changes all the time; repeat the request", session)
}

// receivedBy returns the run that received a message before it ended, or "".
func (c *Client) receivedBy(s *Session, m SessionMessage) (string, error) {
	for _, sum := range slices.Backward(s.Turns) {
		if !hasEnded(sum.Status) || sum.Problem != "" {
			continue // the run knows its messages, or cannot be read
		}
		texts, err := c.Manager.Received(sum)
		if errors.As(err, new(*runs.NotFoundError)) {
			continue
		}
		if err != nil {
			return "", err
		}
		if text, ok := texts[m.ID]; ok && text != m.Text {
			return "", &runs.MessageConflictError{Run: sum.Run, ID: m.ID}
		} else if ok {
			return sum.Run, nil
		}
	}
	return "", nil
}
