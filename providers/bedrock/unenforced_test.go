package bedrock_test

import (
	"encoding/json"
	"testing"

	"github.com/pexctl/pex/engine/model"
	"github.com/pexctl/pex/providers/bedrock"
)

func TestUnenforcedKeywords(t *testing.T) {
	tests := []struct {
		name, how, model, base string
		want                   int
	}{
		{"a Claude that supports it", "auto", newClaude, "", 1},
		{"another model", "auto", nova, "", 0},
		{"another model, forced", "json_schema", nova, "", 1},
		{"an ARN of a Claude that supports it", "auto", "arn:aws:bedrock:eu-west-1:1:application-inference-profile/x", newClaude, 1},
		{"by a tool", "tool", newClaude, "", 0},
		{"by an instruction", "instruction", newClaude, "", 0},
		{"nothing", "none", newClaude, "", 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := bedrock.Config{StructuredOutput: tt.how, BaseModel: tt.base}
			if got := c.UnenforcedKeywords(model.Settings{Model: tt.model}, json.RawMessage(`{"type":"object"}`)); len(got) != tt.want {
				t.Errorf("%d faults, want %d: %v", len(got), tt.want, got)
			}
		})
	}
}
