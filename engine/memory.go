package engine

import (
	"context"
	"encoding/json"
	"time"
)

// Memory keeps conversations between runs. Safe for concurrent use, also by
// several processes.
type Memory interface {
	// History returns the interactions of a conversation, oldest first. An
	// unknown id is an empty conversation.
	History(ctx context.Context, memoryID string) ([]Interaction, error)
	// Append adds an interaction; one with the same ID is replaced, so that a
	// repeated call changes nothing.
	Append(ctx context.Context, in Interaction) error
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
	Status   RunStatus       `json:"status"`
	At       time.Time       `json:"at"`
	Trace    json.RawMessage `json:"trace,omitempty"` // steps and their results, for people
}
