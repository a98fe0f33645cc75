package interrupt

import (
	"context"
	"encoding/json"
	"strings"
)

// Responder answers questions during a run. If it is nil or returns an error, the question
// stays open in the journal and the run waits.
type Responder interface {
	Ask(ctx context.Context, q Question) (json.RawMessage, error)
}

// Kind is the kind of a question.
type Kind string

// The kinds of questions.
const (
	Approval    Kind = "approval"
	Plan        Kind = "plan"
	Human       Kind = "human"
	User        Kind = "ask"
	Elicitation Kind = "elicitation"
	Guard       Kind = "guard"
	Review      Kind = "needs_review"
)

// Question is a question to a human. Path identifies it: answers are given by path.
type Question struct {
	Path     string          `json:"path"`
	Kind     Kind            `json:"kind"`
	Tool     string          `json:"tool,omitempty"`
	Args     json.RawMessage `json:"args,omitempty"`
	Question string          `json:"question,omitempty"`
}

// Decision is the answer to a question.
type Decision struct {
	Do     string          `json:"do"` // approve, deny, edit or text
	Reason string          `json:"reason,omitempty"`
	Edit   json.RawMessage `json:"edit,omitempty"` // edit: the arguments or plan to use instead
	Text   string          `json:"text,omitempty"`
	Typed  string          `json:"typed,omitempty"` // approve, deny: the answer as typed
}

// Approved reports whether the request was approved, unchanged or edited.
func (d Decision) Approved() bool { return d.Do == "approve" || d.Do == "edit" }

// Parse parses a typed answer: approve, deny[:reason], edit:<json>, or any other text.
func Parse(s string) Decision {
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

// MarshalJSON includes empty fields.
func (q Question) MarshalJSON() ([]byte, error) {
	return json.Marshal(struct {
		Path     string          `json:"path"`
		Kind     Kind            `json:"kind"`
		Tool     string          `json:"tool"`
		Args     json.RawMessage `json:"args"`
		Question string          `json:"question"`
	}(q))
}

// Journaled returns the question as journals store it. Its digest covers these bytes.
func (q Question) Journaled() ([]byte, error) {
	type plain Question
	return json.Marshal(plain(q))
}

// Answer returns the decision as the text that was typed. Decisions of older journals,
// which lack it, become a plain yes or no.
func (d Decision) Answer() string {
	switch {
	case d.Do == "edit":
		return string(d.Edit)
	case d.Typed != "":
		return d.Typed
	case d.Do == "approve":
		return "yes"
	case d.Do == "deny" && d.Reason != "":
		return "no: " + d.Reason
	case d.Do == "deny":
		return "no"
	}
	return d.Text
}
