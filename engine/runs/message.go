package runs

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"time"

	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/journal"
	"github.com/pexctl/pex/engine/runtime"
)

// Message is a text that a user sends to a run: it corrects the question, or adds to it.
type Message struct {
	ID   string // unique within the run; a repeated message is stored once
	Text string
	// Interrupt ends the model calls that are under way when the run receives the message.
	// They are sent again with the message. Tool calls continue.
	Interrupt bool
}

func (m Message) by(a engine.Actor) runtime.Message {
	msg := runtime.NewMessage(m.ID, m.Text, a)
	msg.Interrupt = m.Interrupt
	return msg
}

// NewMessageID returns the id of a message whose sender gives it none.
func NewMessageID() string {
	var b [8]byte
	_, _ = rand.Read(b[:]) // never fails
	return "m-" + hex.EncodeToString(b[:])
}

// MessageError reports a message that a run cannot accept.
type MessageError struct{ Err error }

// Error returns the reason.
func (e *MessageError) Error() string { return e.Err.Error() }

// Unwrap returns the reason.
func (e *MessageError) Unwrap() error { return e.Err }

// MessageConflictError reports that a run has a message with the same id and another text.
type MessageConflictError struct{ Run, ID string }

// Error returns the message with the run and the id.
func (e *MessageConflictError) Error() string {
	return "run " + e.Run + " has another message with the id " + e.ID
}

// Message stores a message in the journal of a run that no process executes, and returns
// once it is durable. The run sees it when it continues. The error is a *MessageError or
// *MessageConflictError if the run cannot accept the message, an *EndedError if it has
// ended, and a *journal.InUseError if a process executes it.
func (s *Service) Message(ctx context.Context, run string, m Message) error {
	if err := engine.CheckUserMessage(m.ID, m.Text); err != nil {
		return &MessageError{err}
	}
	err := s.appendMessage(run, m)
	if !errors.Is(err, runtime.ErrInboxClosed) {
		return messageError(run, m, err)
	}
	r, err := s.Read(run)
	if err != nil {
		return err
	}
	return &EndedError{r.Show(ctx)}
}

func (s *Service) appendMessage(run string, m Message) (err error) {
	home, release, err := s.homes.get(journal.Sync)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, release()) }()
	before, headErr := home.Head(run)
	file, err := home.Open(run)
	if err != nil {
		return s.asNotFound(run, err)
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	recs, err := file.Load()
	if err != nil {
		return s.asNotFound(run, err)
	}
	if headErr == nil && len(recs) > 0 && recs[len(recs)-1].Seq == before.Seq {
		file.SetHead(before.Summary) // a message does not change it
	}
	return runtime.AppendMessage(file, m.by(s.env.by()), time.Now())
}

// messageError returns the error of this package for one of package runtime.
func messageError(run string, m Message, err error) error {
	switch {
	case errors.Is(err, runtime.ErrMessageConflict):
		return &MessageConflictError{run, m.ID}
	case errors.Is(err, runtime.ErrTooManyMessages):
		return &MessageError{err}
	}
	return err
}

// Inbox passes messages to a session while it executes its run.
type Inbox struct{ inbox runtime.Inbox }

// ErrInboxClosed reports that the session ended before it stored a message.
var ErrInboxClosed = runtime.ErrInboxClosed

// Send passes a message to the run and returns once it is durable. The error is a
// *MessageError or *MessageConflictError if the run cannot accept it, and ErrInboxClosed if
// the session ended before.
func (b *Inbox) Send(ctx context.Context, run string, m Message, by engine.Actor) error {
	if err := engine.CheckUserMessage(m.ID, m.Text); err != nil {
		return &MessageError{err}
	}
	return messageError(run, m, b.inbox.Post(m.by(by)).Wait(ctx))
}

// Close rejects messages that are not stored, and all later ones.
func (b *Inbox) Close() { b.inbox.Close() }

// Received returns the texts of the messages in the journal of a run, by id.
func (s *Service) Received(run string) (map[string]string, error) {
	r, err := s.Read(run)
	if err != nil {
		return nil, err
	}
	texts := map[string]string{}
	for i := range r.Records {
		if rec := &r.Records[i]; rec.Kind == journal.Said {
			m := runtime.MessageOf(rec)
			texts[m.ID] = m.Text
		}
	}
	return texts, nil
}
