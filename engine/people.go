package engine

import (
	"context"
	"encoding/json"
	"strings"
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

// Decision is a person's answer to a question.
type Decision struct {
	Do     string          `json:"do"` // approve, deny, edit or text
	Reason string          `json:"reason,omitempty"`
	Edit   json.RawMessage `json:"edit,omitempty"` // edit: the arguments or plan to use instead
	Text   string          `json:"text,omitempty"`
	Typed  string          `json:"typed,omitempty"` // approve, deny: the words of it
}

// Approved says whether what was asked may happen, as it is or as edited.
func (d Decision) Approved() bool { return d.Do == "approve" || d.Do == "edit" }

// ParseDecision reads an answer as a person types it: approve, deny[:why],
// edit:<json>, or any other text.
func ParseDecision(s string) Decision {
	word, rest, _ := strings.Cut(s, ":")
	switch strings.ToLower(strings.TrimSpace(word)) {
	case "approve", "yes", "y":
		if rest == "" {
			return Decision{Do: "approve", Typed: s}
		}
	case "deny", "no", "n":
		return Decision{Do: "deny", Reason: strings.TrimSpace(rest), Typed: s}
	case "edit":
		if json.Valid([]byte(rest)) {
			return Decision{Do: "edit", Edit: json.RawMessage(rest)}
		}
	}
	return Decision{Do: "text", Text: s}
}
