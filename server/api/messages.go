package api

import (
	"context"
	"net/http"

	"github.com/pexctl/pex/engine/runs"
)

// UserMessage is a message to a run.
type UserMessage struct {
	ID   string `json:"id,omitempty" doc:"Identifies the message within the run, so that a repeated request stores it once. Default: a new id."`
	Text string `json:"text" minLength:"1" doc:"What the user says, at most 32 KiB."`

	Interrupt bool `json:"interrupt,omitempty" doc:"Ends the model calls that are under way. They are sent again with the message. Tool calls continue."`
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
	c, err := s.Client(ctx)
	if err != nil {
		return nil, err
	}
	m := runs.Message{ID: in.Body.ID, Text: in.Body.Text, Interrupt: in.Body.Interrupt}
	if m.ID == "" {
		m.ID = runs.NewMessageID()
	}
	if err := c.Message(ctx, in.Run, m); err != nil {
		return nil, err
	}
	return replyAt(http.StatusAccepted, in.Run, MessageRef{in.Run, m.ID})
}
