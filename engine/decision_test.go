package engine_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pexctl/pex/engine"
)

func TestDecisionsReadAsPeopleTypeThem(t *testing.T) {
	tests := []struct {
		typed    string
		want     engine.Decision
		approved bool
	}{
		{"approve", engine.Decision{Do: "approve"}, true},
		{" Yes ", engine.Decision{Do: "approve"}, true},
		{"deny", engine.Decision{Do: "deny"}, false},
		{"deny: too dangerous: really", engine.Decision{Do: "deny", Reason: "too dangerous: really"}, false},
		{"no", engine.Decision{Do: "deny"}, false},
		{`edit:{"path": "b"}`, engine.Decision{Do: "edit", Edit: []byte(`{"path": "b"}`)}, true},
		{`edit: [1, 2]`, engine.Decision{Do: "edit", Edit: []byte(` [1, 2]`)}, true},
		{"edit:{broken", engine.Decision{Do: "text", Text: "edit:{broken"}, false},
		{"approve: but gently", engine.Decision{Do: "text", Text: "approve: but gently"}, false},
		{"approved", engine.Decision{Do: "text", Text: "approved"}, false},
		{"", engine.Decision{Do: "text"}, false},
		{"the blue one", engine.Decision{Do: "text", Text: "the blue one"}, false},
	}
	for _, tt := range tests {
		t.Run(tt.typed, func(t *testing.T) {
			got := engine.ParseDecision(tt.typed)
			if d := cmp.Diff(tt.want, got); d != "" || got.Approved() != tt.approved {
				t.Errorf("approved %v, %s", got.Approved(), d)
			}
		})
	}
}
