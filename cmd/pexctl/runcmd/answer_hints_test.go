package runcmd

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pexctl/pex/engine/interrupt"
)

func TestAnswerOptions(t *testing.T) {
	cases := []struct {
		name, args string
		kind       interrupt.Kind
		want       []string
	}{
		{"an approval", `{"to": "x"}`, interrupt.Approval, []string{"approve", "deny:WHY", `edit:{"to":"x"}`}},
		{"a plan", `{"steps": []}`, interrupt.Plan, []string{"approve", "deny:WHY", `edit:{"steps":[]}`}},
		{"a form", `{"type": "object"}`, interrupt.Elicitation, []string{"approve", "deny:WHY", "edit:JSON"}},
		{"a guard", "", interrupt.Guard, []string{"approve", "deny:WHY"}},
		{"a node", "", interrupt.Human, []string{"TEXT"}},
		{"a tool that asks", "", interrupt.User, []string{"TEXT"}},
		{"a write in doubt", `{"to": "x"}`, interrupt.Review, []string{"done:JSON", "redo", "skip"}},
		{"arguments that are long", `"` + strings.Repeat("x", maxEditArgs) + `"`, interrupt.Approval, []string{"approve", "deny:WHY", "edit:JSON"}},
		{"with a secret", `{"key": "[redacted KEY]"}`, interrupt.Approval, []string{"approve", "deny:WHY", "edit:JSON"}},
		{"that would be shown otherwise", `{"to": "a  b"}`, interrupt.Approval, []string{"approve", "deny:WHY", "edit:JSON"}},
		{"that are none", "", interrupt.Approval, []string{"approve", "deny:WHY", "edit:JSON"}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			got := answerOptions(interrupt.Question{Kind: c.kind, Args: json.RawMessage(c.args)})
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestSeveralQuestionsAreAnsweredTogether(t *testing.T) {
	got := severalQuestions("pexctl resume r", []interrupt.Question{
		{Path: "a", Kind: interrupt.Approval, Args: json.RawMessage(`{"to":"x"}`)},
		{Path: "b", Kind: interrupt.Human},
		{Path: "c", Kind: interrupt.Approval},
		{Path: "d", Kind: interrupt.Review},
	})
	want := []string{
		"To answer: pexctl resume r --answer a=approve --answer b=TEXT --answer c=approve --answer d=done:JSON",
		"  instead of approve: deny:WHY or edit:JSON",
		"  instead of done:JSON: redo or skip",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
