package turn

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/pexctl/pex/engine/interrupt"
	"github.com/pexctl/pex/engine/jsonvalue"
	"github.com/pexctl/pex/engine/runs"
	"github.com/pexctl/pex/server/manager"
)

// AnswerSchema returns the JSON Schema of the objects that ParseAnswer accepts for a kind of
// questions.
func AnswerSchema(kind interrupt.Kind) json.RawMessage {
	properties, required := map[string]any{}, "approved"
	of := func(typ, description string) map[string]string {
		return map[string]string{"type": typ, "description": description}
	}
	switch kind {
	case interrupt.Human, interrupt.User:
		required = "text"
		properties["text"] = of("string", "The answer.")
	case interrupt.Review:
		required = "do"
		properties["do"] = map[string]any{"enum": runs.Actions(kind), "description": "done: the call was made, with this result; redo: make it again; skip: treat it as failed."}
		properties["result"] = map[string]string{"description": "Of done: the result of the tool."}
	default:
		properties["approved"] = of("boolean", "Whether the run may go on.")
		properties["reason"] = of("string", "Why not, for the model.")
		if slices.Contains(runs.Actions(kind), "edit") {
			properties["editedArgs"] = map[string]string{"description": "Arguments, or a plan, to use instead."}
		}
	}
	return jsonvalue.Encode(map[string]any{"type": "object", "properties": properties, "required": []string{required}})
}

// answerObject is the usual form of an answer.
type answerObject struct {
	Approved   *bool           `json:"approved"`
	Reason     string          `json:"reason"`
	EditedArgs json.RawMessage `json:"editedArgs"`
	Text       string          `json:"text"`
	Do         string          `json:"do"`
	Result     json.RawMessage `json:"result"`
}

// ParseAnswer parses an answer to a question: an object as in AnswerSchema, or a string as
// a person types it. The error says how to answer.
func ParseAnswer(q interrupt.Question, answer json.RawMessage) (manager.Answer, error) {
	a := manager.Answer{Path: q.Path}
	var o answerObject
	switch {
	case len(answer) > 0 && answer[0] == '"' && json.Unmarshal(answer, &a.Value) == nil:
	case json.Unmarshal(answer, &o) != nil:
		return a, invalidAnswer(q.Kind)
	case o.Do != "":
		a.Do, a.Value = o.Do, string(o.Result)
	case len(o.EditedArgs) > 0 && (o.Approved == nil || *o.Approved):
		a.Do, a.Value = "edit", string(o.EditedArgs)
	case o.Approved != nil && *o.Approved:
		a.Do = "approve"
	case o.Approved != nil:
		a.Do, a.Value = "deny", o.Reason
	case o.Text != "":
		a.Do, a.Value = "text", o.Text
	default:
		return a, invalidAnswer(q.Kind)
	}
	if q.Kind == interrupt.Review { // the run checks the rest
		if a.Do != "" && !slices.Contains(runs.Actions(q.Kind), a.Do) {
			return a, invalidAnswer(q.Kind)
		}
		return a, nil
	}
	_, err := runs.Answer{Path: a.Path, Do: a.Do, Value: a.Value}.Decide(q.Kind)
	return a, err
}

func invalidAnswer(kind interrupt.Kind) error {
	return fmt.Errorf("an answer must be a string as a person types it, or an object with this schema: %s", AnswerSchema(kind))
}

// Dismiss returns the answer of a user who does not want to decide: a denial.
func Dismiss(q interrupt.Question) manager.Answer {
	if q.Kind == interrupt.Review {
		return manager.Answer{Path: q.Path, Do: "skip"}
	}
	return manager.Answer{Path: q.Path, Do: "deny", Value: "cancelled by the user"}
}

// Decides returns what an answer to a question does: approve, deny, edit, text, done, redo
// or skip.
func Decides(q interrupt.Question, a manager.Answer) string {
	if a.Do != "" {
		return a.Do
	}
	if q.Kind == interrupt.Review {
		word, _, _ := strings.Cut(a.Value, ":")
		return word
	}
	d, _ := runs.ParseDecision(q.Kind, a.Value)
	return d.Do
}
