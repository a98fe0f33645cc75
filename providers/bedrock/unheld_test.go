package bedrock_test

import (
	"encoding/json"
	"testing"

	"github.com/pexctl/pex/engine/model"
	"github.com/pexctl/pex/providers/bedrock"
)

func TestBedrockHoldsModelsWhereItIsAskedToOnly(t *testing.T) {
	tests := []struct {
		name, how, model, base string
		want                   int
	}{
		{"a Claude that knows it", "auto", newClaude, "", 1},
		{"a model that does not", "auto", nova, "", 0},
		{"a model that does not, told to", "json_schema", nova, "", 1},
		{"an ARN of one that does", "auto", "arn:aws:bedrock:eu-west-1:1:application-inference-profile/x", newClaude, 1},
		{"by a tool", "tool", newClaude, "", 0},
		{"in words", "instruction", newClaude, "", 0},
		{"nothing", "none", newClaude, "", 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := bedrock.Config{StructuredOutput: tt.how, BaseModel: tt.base}
			if got := c.UnenforcedKeywords(model.Settings{Model: tt.model}, json.RawMessage(`{"type":"object"}`)); len(got) != tt.want {
				t.Errorf("%d faults, not %d: %v", len(got), tt.want, got)
			}
		})
	}
}
