package memory

import (
	"context"
	"encoding/json"
	"time"

	"github.com/pexctl/pex/engine/stop"
)

// Store keeps conversations between runs. Safe for concurrent use, also by
// several processes. Its errors are the store's trouble, which may pass, unless
// they wrap a RefusedError: a run that needs the conversation suspends and tries
// again when it is resumed. An error with a method stop.Code() stop.Code names the
// trouble; the code of all others is stop.StoreUnavailable.
type Store interface {
	// History returns the interactions of a conversation, oldest first. An
	// unknown id is an empty conversation.
	History(ctx context.Context, memoryID string) ([]Interaction, error)
	// Append adds interactions, all of them or none; one with the same ID is
	// replaced, so that a repeated call changes nothing.
	Append(ctx context.Context, in ...Interaction) error
}

// RefusedError is the error of a Memory that cannot take what it was given, now
// or later: an id that is too long, an interaction that is too large.
type RefusedError struct{ Err error }

// Error is what is wrong with what was given.
func (e *RefusedError) Error() string { return e.Err.Error() }

// Unwrap gives what is wrong.
func (e *RefusedError) Unwrap() error { return e.Err }

// SessionStore is a capability of a Memory: what tools keep for a conversation
// between runs. Safe for concurrent use, also by several processes.
type SessionStore interface {
	// Session returns what is kept; an unknown id is an empty session.
	Session(ctx context.Context, memoryID string) (Session, error)
	// UpdateSession changes what is kept, in one piece: change gets it as it is
	// now, and may be called again when another process came between. Its error
	// leaves all as it was and is returned.
	UpdateSession(ctx context.Context, memoryID string, change func(*Session) error) error
}

// Session is the notes and variables of a conversation.
type Session struct {
	Notes     []Note                     `json:"notes,omitempty"` // oldest first
	Variables map[string]json.RawMessage `json:"variables,omitempty"`
}

// Note is one entry of a notepad.
type Note struct {
	ID    string    `json:"id"` // of the call that wrote it
	RunID string    `json:"run_id,omitempty"`
	Text  string    `json:"text"`
	At    time.Time `json:"at"`
}

// Interaction is one question and its answer in a conversation.
type Interaction struct {
	ID       string          `json:"id"`
	MemoryID string          `json:"memory_id"`
	ParentID string          `json:"parent_id,omitempty"` // the interaction before it
	RunID    string          `json:"run_id,omitempty"`
	Agent    string          `json:"agent,omitempty"` // metadata.name of the spec
	Question string          `json:"question"`
	Answer   string          `json:"answer"`
	Status   stop.RunStatus  `json:"status"`
	At       time.Time       `json:"at"`
	Trace    json.RawMessage `json:"trace,omitempty"` // steps and their results, for people
}
