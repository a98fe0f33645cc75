package runs_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/pexctl/pex/engine/interrupt"
	"github.com/pexctl/pex/engine/runs"
)

func TestAnActionMustFitItsQuestion(t *testing.T) {
	all := []string{"approve", "deny", "edit", "text", "done", "redo", "skip", "perhaps"}
	for kind, want := range map[interrupt.Kind]string{
		interrupt.Approval:    "approve deny edit",
		interrupt.Plan:        "approve deny edit",
		interrupt.Guard:       "approve deny",
		interrupt.Human:       "approve deny text",
		interrupt.User:        "approve deny text",
		interrupt.Elicitation: "approve deny edit text",
	} {
		var possible []string
		for _, do := range all {
			_, err := runs.Answer{Do: do, Value: "{}"}.Decide(kind)
			if err == nil {
				possible = append(possible, do)
			} else if text := do + " does not answer a question of kind " + string(kind) + "; use one of: "; !strings.HasPrefix(err.Error(), text) {
				t.Errorf("%s: %v", kind, err)
			}
		}
		if got := strings.Join(possible, " "); got != want {
			t.Errorf("%s: %s, want %s", kind, got, want)
		}
	}
}

// The content of an action is not parsed, unless a text says yes or no to a human node.
func TestTheContentOfAnActionIsNotParsed(t *testing.T) {
	for answer, want := range map[runs.Answer]string{
		{Do: "text", Value: `edit:{"a": 1}`}: `{"do":"text","text":"edit:{\"a\": 1}"}`,
		{Do: "text", Value: "yes"}:           `{"do":"text","text":"yes"}`,
		{Do: "deny", Value: "no: never"}:     `{"do":"deny","reason":"no: never"}`,
		{Do: "approve"}:                      `{"do":"approve"}`,
		{Value: `edit:{"a":1}`}:              `{"do":"edit","edit":{"a":1}}`,
		{Value: "yes"}:                       `{"do":"approve","typed":"yes"}`,
	} {
		if got, err := answer.Decide(interrupt.User); err != nil || string(got) != want {
			t.Errorf("%+v: %s, %v", answer, got, err)
		}
	}
	for text, want := range map[string]string{
		"No: too curt": `{"do":"deny","reason":"too curt","typed":"No: too curt"}`,
		"yes":          `{"do":"approve","typed":"yes"}`,
		"edit:{}":      `{"do":"text","text":"edit:{}"}`,
		"blue":         `{"do":"text","text":"blue"}`,
	} {
		if got, err := (runs.Answer{Do: "text", Value: text}).Decide(interrupt.Human); err != nil || string(got) != want {
			t.Errorf("%s: %s, %v", text, got, err)
		}
	}
}

func TestAnEditMustBeJSON(t *testing.T) {
	_, err := runs.Answer{Path: "step.s1/turn.1/tool.0.approval", Do: "edit", Value: `{"a": 1`}.Decide(interrupt.Approval)
	if e, ok := errors.AsType[*runs.AnswerError](err); !ok || e.Error() != "step.s1/turn.1/tool.0.approval: edit: invalid JSON" {
		t.Error(err)
	}
}
