package interrupt

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

// Kind is what a person is asked for.
type Kind string

// The interrupt kinds (DESIGN section 10).
const (
	Approval    Kind = "approval"
	Plan        Kind = "plan"
	Human       Kind = "human"
	User        Kind = "ask"
	Elicitation Kind = "elicitation"
	Guard       Kind = "guard"
	Review      Kind = "needs_review"
)

// Question is what a person is asked. Path names it: an answer is given to a path.
type Question struct {
	Path     string          `json:"path"`
	Kind     Kind            `json:"kind"`
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

// Parse reads an answer as a person types it: approve, deny[:why],
// edit:<json>, or any other text.
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

// MarshalJSON writes tool, arguments and question also of a question without.
func (q Question) MarshalJSON() ([]byte, error) {
	return json.Marshal(struct {
		Path     string          `json:"path"`
		Kind     Kind            `json:"kind"`
		Tool     string          `json:"tool"`
		Args     json.RawMessage `json:"args"`
		Question string          `json:"question"`
	}(q))
}

// Journaled is a question as journals hold it: its digest is over these bytes.
func (q Question) Journaled() ([]byte, error) {
	type plain Question
	return json.Marshal(plain(q))
}

// Answer is a decision as the text of an answer: what was typed. A decision that
// keeps no words, as those of older journals, is a plain yes or no.
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
