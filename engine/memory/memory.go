package memory

import (
	"context"
	"encoding/json"
	"time"

	"github.com/pexctl/pex/engine/stop"
)

// Store stores conversations between runs. It must be safe for concurrent use, also by
// several processes. Errors count as temporary unless they wrap a RefusedError: a run
// that needs the conversation is suspended and tries again on resume. An error with a
// method StopCode() stop.Code determines the stop code; otherwise it is
// stop.StoreUnavailable.
type Store interface {
	// History returns the interactions of a conversation, oldest first; none for an
	// unknown id.
	History(ctx context.Context, memoryID string) ([]Interaction, error)
	// Append adds all interactions or none. It replaces interactions with the same ID, so
	// repeating a call changes nothing.
	Append(ctx context.Context, in ...Interaction) error
}

// RefusedError reports that a Store can never accept the data: an id is too long, an
// interaction too large.
type RefusedError struct{ Err error }

// Error returns the cause.
func (e *RefusedError) Error() string { return e.Err.Error() }

// Unwrap returns the cause.
func (e *RefusedError) Unwrap() error { return e.Err }

// SessionStore is a Store that also stores session state. It must be safe for concurrent
// use, also by several processes.
type SessionStore interface {
	// Session returns the session state; an unknown id has an empty one.
	Session(ctx context.Context, memoryID string) (Session, error)
	// UpdateSession changes the session state atomically: change receives the current
	// state, and may be called again after a conflict. Its error cancels the update and
	// is returned.
	UpdateSession(ctx context.Context, memoryID string, change func(*Session) error) error
}

// Session is the session state of a conversation.
type Session struct {
	Notes     []Note                     `json:"notes,omitempty"` // oldest first
	Variables map[string]json.RawMessage `json:"variables,omitempty"`
}

// Note is one entry of a notepad.
type Note struct {
	ID    string    `json:"id"` // id of the call that wrote it
	RunID string    `json:"run_id,omitempty"`
	Text  string    `json:"text"`
	At    time.Time `json:"at"`
}

// Interaction is a question and its answer in a conversation.
type Interaction struct {
	ID       string          `json:"id"`
	MemoryID string          `json:"memory_id"`
	ParentID string          `json:"parent_id,omitempty"` // interaction before it
	RunID    string          `json:"run_id,omitempty"`
	Agent    string          `json:"agent,omitempty"` // metadata.name of the spec
	Question string          `json:"question"`
	Answer   string          `json:"answer"`
	Status   stop.RunStatus  `json:"status"`
	At       time.Time       `json:"at"`
	Trace    json.RawMessage `json:"trace,omitempty"` // steps and their results, for humans
}
