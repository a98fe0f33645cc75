package main

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pexctl/pex/engine"
)

func TestWaysToAnswer(t *testing.T) {
	cases := []struct {
		name, args string
		kind       engine.InterruptKind
		want       []string
	}{
		{"an approval", `{"to": "x"}`, engine.AskApproval, []string{"approve", "deny:WHY", `edit:{"to":"x"}`}},
		{"a plan", `{"steps": []}`, engine.AskPlan, []string{"approve", "deny:WHY", `edit:{"steps":[]}`}},
		{"a form", `{"type": "object"}`, engine.AskElicitation, []string{"approve", "deny:WHY", "edit:JSON"}},
		{"a guard", "", engine.AskGuard, []string{"approve", "deny:WHY"}},
		{"a node", "", engine.AskHuman, []string{"TEXT"}},
		{"a tool that asks", "", engine.AskUser, []string{"TEXT"}},
		{"a write in doubt", `{"to": "x"}`, engine.AskReview, []string{"done:JSON", "redo", "skip"}},
		{"arguments that are long", `"` + strings.Repeat("x", shortEdit) + `"`, engine.AskApproval, []string{"approve", "deny:WHY", "edit:JSON"}},
		{"with a secret", `{"key": "[redacted KEY]"}`, engine.AskApproval, []string{"approve", "deny:WHY", "edit:JSON"}},
		{"that would be shown otherwise", `{"to": "a  b"}`, engine.AskApproval, []string{"approve", "deny:WHY", "edit:JSON"}},
		{"that are none", "", engine.AskApproval, []string{"approve", "deny:WHY", "edit:JSON"}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			got := answerOptions(engine.Question{Kind: c.kind, Args: json.RawMessage(c.args)})
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestSeveralQuestionsAreAnsweredTogether(t *testing.T) {
	got := severalQuestions("pexctl resume r", []engine.Question{
		{Path: "a", Kind: engine.AskApproval, Args: json.RawMessage(`{"to":"x"}`)},
		{Path: "b", Kind: engine.AskHuman},
		{Path: "c", Kind: engine.AskApproval},
		{Path: "d", Kind: engine.AskReview},
	})
	want := []string{
		"go on: pexctl resume r --answer a=approve --answer b=TEXT --answer c=approve --answer d=done:JSON",
		"   or, instead of approve: deny:WHY, edit:JSON",
		"   or, instead of done:JSON: redo, skip",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
