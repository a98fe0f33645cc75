package sink

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestDraftOfAStreamedPlan(t *testing.T) {
	tests := []struct {
		text   string
		steps  []string
		result string
	}{
		{``, nil, ""},
		{`{`, nil, ""},
		{`{"steps": [`, nil, ""},
		{`{"steps": ["Read the lo`, []string{"Read the lo"}, ""},
		{`{"steps": ["Read", "Sum it \"up\"\n`, []string{"Read", `Sum it "up" `}, ""},
		{`{"steps": ["caf\u00e9 \u00`, []string{"café "}, ""},
		{`{"steps": ["a\`, []string{"a"}, ""},
		{`{"steps": [{"goal": "Read", "tools": ["sql"], "args": {"goal": "no"}}, {"id": "s2", "goal": "Wri`, []string{"Read", "Wri"}, ""},
		{`{"steps": [{"title": "T", "description": "D"}, {"goal": "E"}]}`, []string{"T", "E"}, ""},
		{`{"steps": [], "result": "It is 4`, nil, "It is 4"},
		{`{"reason": {"steps": ["no"]}, "steps": ["yes"], "result": ""}`, []string{"yes"}, ""},
		{"```json\n[\"one\", {\"goal\": \"two\"}", []string{"one", "two"}, ""},
		{`{"steps": [1, null, "a"], "n": 1.5e3, "result": "b"}`, []string{"a"}, "b"},
		{`{"steps": oops`, nil, ""},
		{`{"steps": ["a" }]`, []string{"a"}, ""},
		{`{"steps": , "result": ] "b"`, nil, ""},
		{strings.Repeat("[", 10_000), nil, ""},
	}
	for _, tt := range tests {
		got := readDraft(tt.text)
		if diff := cmp.Diff(draft{tt.steps, tt.result}, got, cmp.AllowUnexported(draft{})); diff != "" {
			t.Errorf("%s\n%s", tt.text, diff)
		}
	}
}

func FuzzReadDraft(f *testing.F) {
	f.Add(`{"steps": ["a", {"goal": "b\u00e9"}], "result": "c"}`)
	f.Add("```json\n[\"\\")
	f.Fuzz(func(t *testing.T, text string) {
		whole := readDraft(text)
		if len(whole.steps) > len(text) || len(whole.result) > 3*len(text) {
			t.Errorf("%d steps, %d bytes", len(whole.steps), len(whole.result))
		}
	})
}
