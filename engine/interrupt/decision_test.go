package interrupt_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/pexctl/pex/engine/interrupt"
)

func TestParseTypedDecisions(t *testing.T) {
	tests := []struct {
		typed    string
		want     interrupt.Decision
		approved bool
	}{
		{"approve", interrupt.Decision{Do: "approve", Typed: "approve"}, true},
		{" Yes ", interrupt.Decision{Do: "approve", Typed: " Yes "}, true},
		{"deny", interrupt.Decision{Do: "deny", Typed: "deny"}, false},
		{"deny: too dangerous: really", interrupt.Decision{Do: "deny", Reason: "too dangerous: really", Typed: "deny: too dangerous: really"}, false},
		{"no", interrupt.Decision{Do: "deny", Typed: "no"}, false},
		{`edit:{"path": "b"}`, interrupt.Decision{Do: "edit", Edit: []byte(`{"path": "b"}`)}, true},
		{`edit: [1, 2]`, interrupt.Decision{Do: "edit", Edit: []byte(` [1, 2]`)}, true},
		{"edit:{broken", interrupt.Decision{Do: "text", Text: "edit:{broken"}, false},
		{"approve: but gently", interrupt.Decision{Do: "text", Text: "approve: but gently"}, false},
		{"approved", interrupt.Decision{Do: "text", Text: "approved"}, false},
		{"", interrupt.Decision{Do: "text"}, false},
		{"the blue one", interrupt.Decision{Do: "text", Text: "the blue one"}, false},
	}
	for _, tt := range tests {
		t.Run(tt.typed, func(t *testing.T) {
			got := interrupt.Parse(tt.typed)
			if d := cmp.Diff(tt.want, got); d != "" || got.Approved() != tt.approved {
				t.Errorf("approved %v, %s", got.Approved(), d)
			}
		})
	}
}

func TestAnswerIsTheTypedText(t *testing.T) {
	for typed, want := range map[string]string{
		"y": "y", "n": "n", "approve": "approve", "No: the other": "No: the other", "blue": "blue", `edit:{"a": 1}`: `{"a": 1}`, "": "",
	} {
		if got := interrupt.Parse(typed).Answer(); got != want {
			t.Errorf("%q: %q, want %q", typed, got, want)
		}
	}
	// Older journals lack the typed text.
	for _, d := range []interrupt.Decision{{Do: "approve"}, {Do: "deny"}, {Do: "deny", Reason: "late"}} {
		if got := d.Answer(); got != map[string]string{"approve": "yes", "deny": "no", "denylate": "no: late"}[d.Do+d.Reason] {
			t.Errorf("%+v: %q", d, got)
		}
	}
}
