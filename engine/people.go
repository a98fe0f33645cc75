package engine

import (
	"context"
	"encoding/json"
)

// People answers questions while the run goes on. Nil, or an error, parks the
// run: the question stays open in the journal.
type People interface {
	Ask(ctx context.Context, q Question) (json.RawMessage, error)
}

// InterruptKind is what a person is asked for.
type InterruptKind string

// The interrupt kinds (DESIGN section 10).
const (
	AskApproval    InterruptKind = "approval"
	AskPlan        InterruptKind = "plan"
	AskHuman       InterruptKind = "human"
	AskUser        InterruptKind = "ask"
	AskElicitation InterruptKind = "elicitation"
	AskGuard       InterruptKind = "guard"
	AskReview      InterruptKind = "needs_review"
)

// Question is what a person is asked. Path names it: an answer is given to a path.
type Question struct {
	Path     string          `json:"path"`
	Kind     InterruptKind   `json:"kind"`
	Tool     string          `json:"tool,omitempty"`
	Args     json.RawMessage `json:"args,omitempty"`
	Question string          `json:"question,omitempty"`
}
