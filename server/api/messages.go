package api

import (
	"context"
	"errors"
	"net/http"

	"github.com/pexctl/pex/engine/journal"
	"github.com/pexctl/pex/engine/runs"
	"github.com/pexctl/pex/server/auth"
	"github.com/pexctl/pex/server/problem"
)

// UserMessage is a message to a run.
type UserMessage struct {
	ID   string `json:"id,omitempty" doc:"Identifies the message within the run, so that a repeated request stores it once. Default: a new id."`
	Text string `json:"text" minLength:"1" doc:"What the user says, at most 32 KiB."`
}

// MessageRef identifies a message to a run.
type MessageRef struct {
	Run string `json:"run_id"`
	ID  string `json:"id"`
}

type messageRequest struct {
	RunPath
	Body UserMessage
}

func (s *server) message(ctx context.Context, in *messageRequest) (reply, error) {
	c, err := s.caller(ctx)
	if err != nil {
		return nil, err
	}
	if err := c.run(auth.Run, in.Run); err != nil {
		return nil, err
	}
	m := runs.Message{ID: in.Body.ID, Text: in.Body.Text}
	if m.ID == "" {
		m.ID = runs.NewMessageID()
	}
	err = c.Manager.Message(ctx, in.Run, m, c.actor())
	if errors.As(err, new(*journal.InUseError)) {
		return nil, problem.New(problem.Running, "another process executes run %s; send the message again when the run waits for an answer or is suspended", in.Run)
	}
	if err != nil {
		return nil, err
	}
	return replyAt(http.StatusAccepted, in.Run, MessageRef{in.Run, m.ID})
}
