package runtime

import (
	"encoding/json"
	"time"

	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/journal"
	"github.com/pexctl/pex/engine/jsonvalue"
	"github.com/pexctl/pex/engine/kernel"
)

// Inbox passes messages to a session of a run.
type Inbox = kernel.Inbox

// Message is a message for a run.
type Message = kernel.Message

// NewMessage returns a message by an actor.
func NewMessage(id, text string, by engine.Actor) Message {
	return Message{ID: id, Text: text, By: journaledActor(by.Identity())}
}

// MessageOf returns the message in a record.
func MessageOf(rec *journal.Record) Message { return kernel.MessageOf(rec) }

// AppendMessage stores a message in the journal of a run that no session executes; see
// kernel.AppendMessage.
func AppendMessage(j journal.Journal, m Message, at time.Time) error {
	return kernel.AppendMessage(j, m, at)
}

// Errors of messages that are not stored; see package kernel.
var (
	ErrInboxClosed     = kernel.ErrInboxClosed
	ErrMessageConflict = kernel.ErrMessageConflict
	ErrTooManyMessages = kernel.ErrTooManyMessages
)

// journaledActor encodes an actor for the journal; nil = unknown.
func journaledActor(a engine.Actor) json.RawMessage {
	if a.IsZero() {
		return nil
	}
	return jsonvalue.Encode(a)
}
