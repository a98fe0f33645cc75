package runs

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/pexctl/pex/engine/interrupt"
)

// Actions returns the values of Answer.Do that are possible for a question of a kind.
func Actions(kind interrupt.Kind) []string {
	switch kind {
	case interrupt.Review:
		return []string{"done", "redo", "skip"}
	case interrupt.Human, interrupt.User:
		return []string{"text", "approve", "deny"}
	case interrupt.Guard:
		return []string{"approve", "deny"}
	case interrupt.Elicitation:
		return []string{"approve", "deny", "edit", "text"}
	default:
		return []string{"approve", "deny", "edit"}
	}
}

// ActionError reports an Answer.Do that is not possible for its question.
type ActionError struct {
	Do   string
	Kind interrupt.Kind
}

// Error returns the message with the possible values.
func (e *ActionError) Error() string {
	return fmt.Sprintf("%s does not answer a question of kind %s; use one of: %s", e.Do, e.Kind, strings.Join(Actions(e.Kind), ", "))
}

// check returns an *ActionError if Do is not possible for a kind.
func (a Answer) check(kind interrupt.Kind) error {
	if !slices.Contains(Actions(kind), a.Do) {
		return &ActionError{a.Do, kind}
	}
	return nil
}

// Decide returns the decision about a question of a kind other than interrupt.Review, as
// JSON. Of the answers with Do, it parses only a text for interrupt.Human, which may say
// yes or no. The error is an *AnswerError or an *ActionError.
func (a Answer) Decide(kind interrupt.Kind) (json.RawMessage, error) {
	if a.Do == "" {
		d, wrong := ParseDecision(kind, a.Value)
		if wrong != "" {
			return nil, &AnswerError{Reason: fmt.Sprintf("%s: %s; use %s", a.Path, wrong, Choices(kind)), Value: a.Value}
		}
		return json.Marshal(d)
	}
	if err := a.check(kind); err != nil {
		return nil, err
	}
	d := interrupt.Decision{Do: a.Do}
	switch a.Do {
	case "deny":
		d.Reason = a.Value
	case "edit":
		if !json.Valid([]byte(a.Value)) {
			return nil, &AnswerError{Reason: fmt.Sprintf("%s: edit: invalid JSON", a.Path), Value: a.Value}
		}
		d.Edit = json.RawMessage(a.Value)
	case "text":
		d.Text = a.Value
		// A text that says no must not let a human node go on.
		if typed := interrupt.Parse(a.Value); kind == interrupt.Human && (typed.Do == "approve" || typed.Do == "deny") {
			d = typed
		}
	}
	return json.Marshal(d)
}

// resolve returns the decision about a write with an unknown outcome: done:JSON, redo or
// skip. The error is an *AnswerError or an *ActionError.
func (a Answer) resolve() (string, error) {
	value := a.Value
	switch a.Do {
	case "":
	case "done":
		value = "done:" + a.Value
	default:
		value = a.Do
		if err := a.check(interrupt.Review); err != nil {
			return "", err
		}
	}
	body, done := strings.CutPrefix(value, "done:")
	if value != "redo" && value != "skip" && (!done || !json.Valid([]byte(body))) {
		return "", &AnswerError{Reason: fmt.Sprintf("%s: invalid decision %q for a write with an unknown outcome; use done:JSON (its result), redo or skip", a.Path, value), Value: value}
	}
	return value, nil
}
