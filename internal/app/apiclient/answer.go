package apiclient

import (
	"encoding/json"
	"strings"

	"github.com/pexctl/pex/engine/interrupt"
	"github.com/pexctl/pex/engine/runs"
)

// NewAnswer returns a decision as the server takes it. ask_user passes on what was typed, and
// a human node has no arguments to edit.
func NewAnswer(kind interrupt.Kind, path string, d interrupt.Decision) Answer {
	if kind == interrupt.User || kind == interrupt.Human && d.Do == "edit" {
		return Answer{Path: path, Do: "text", Text: d.Answer()}
	}
	return Answer{Path: path, Do: d.Do, Reason: d.Reason, Edit: d.Edit, Text: d.Text}
}

// TypedAnswer returns the answer to a question that a person typed, or what is wrong with it.
func TypedAnswer(kind interrupt.Kind, path, text string) (answer Answer, wrong string) {
	if kind != interrupt.Review {
		d, wrong := runs.ParseDecision(kind, text)
		if wrong != "" {
			wrong += "; use " + runs.Choices(kind)
		}
		return NewAnswer(kind, path, d), wrong
	}
	result, done := strings.CutPrefix(text, "done:")
	switch {
	case done && json.Valid([]byte(result)):
		return Answer{Path: path, Do: "done", Result: json.RawMessage(result)}, ""
	case text == "redo" || text == "skip":
		return Answer{Path: path, Do: text}, ""
	}
	return answer, "invalid decision " + text + " for a write with an unknown outcome; use done:JSON (its result), redo or skip"
}
