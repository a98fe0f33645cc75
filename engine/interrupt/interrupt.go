package interrupt

import (
	"context"
	"encoding/json"
	"strings"

	"github.com/pexctl/pex/engine/component"
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

// Denies reports whether an answer to a question of the kind is a denial. A text denies what
// can only be approved or denied.
func (k Kind) Denies(do string) bool {
	return do == "deny" || do == "text" && (k == Approval || k == Plan || k == Guard)
}

// Question is a question to a human. Path identifies it: answers are given by path.
type Question struct {
	Path     string          `json:"path"`
	Kind     Kind            `json:"kind"`
	Tool     string          `json:"tool,omitempty"`
	Args     json.RawMessage `json:"args,omitempty"`
	Question string          `json:"question,omitempty"`
	// Approvers and FourEyes are the rule about who may answer; see Restrict.
	Approvers string `json:"approvers,omitempty"`
	FourEyes  bool   `json:"four_eyes,omitempty"`

	Rule *Rule `json:"-"` // the same rule compiled, of a question that is asked; nil = everyone may answer
	// Permits returns nil if by may give an answer, otherwise a *NotApproverError. Nil =
	// everyone may give every answer. A Responder for a single human passes the zero Actor,
	// for the author of the session. It is safe for concurrent use.
	Permits func(by Actor, do string) error `json:"-"`
}

// Restrict returns the question with a rule about who may answer.
func (q Question) Restrict(rule Rule) Question {
	if !rule.IsZero() {
		q.Rule, q.Approvers, q.FourEyes = &rule, rule.Approvers.Source, rule.FourEyes
	}
	return q
}

// CompiledRule returns Rule, or the zero Rule.
func (q *Question) CompiledRule() Rule {
	if q.Rule == nil {
		return Rule{}
	}
	return *q.Rule
}

// RuleText returns the rule as a spec writes it; "" = none.
func (q *Question) RuleText() string {
	return Rule{Approvers: component.GuardRef{Source: q.Approvers}, FourEyes: q.FourEyes}.String()
}

// Permit returns nil if by may give an answer to the question; see Permits. do is as in
// Decision, or done, redo or skip. Otherwise the error is a *NotApproverError.
func (q *Question) Permit(by Actor, do string) error {
	if q.Permits == nil {
		return nil
	}
	return q.Permits(by, do)
}

// Summary says what the question is about, in one sentence.
func (q *Question) Summary() string {
	switch {
	case q.Question != "":
		return q.Question
	case q.Kind == Plan:
		return "Approve the plan?"
	case q.Tool != "":
		return "Approve the call of " + q.Tool + "?"
	}
	return "The run needs a decision."
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
		Path      string                    `json:"path"`
		Kind      Kind                      `json:"kind"`
		Tool      string                    `json:"tool"`
		Args      json.RawMessage           `json:"args"`
		Question  string                    `json:"question"`
		Approvers string                    `json:"approvers,omitempty"`
		FourEyes  bool                      `json:"four_eyes,omitempty"`
		Rule      *Rule                     `json:"-"`
		Permits   func(Actor, string) error `json:"-"`
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
