package bedrock_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/providers/bedrock"
)

func TestWhatOfASchemaBedrockDoesNotHoldAModelTo(t *testing.T) {
	inside := func(s string) string { return `{"type":"object","properties":{"a":` + s + `}}` }
	tests := []struct{ name, schema, want string }{
		{"left open by the way, with bounds", inside(`{"type":"string","minLength":2}`), ""},
		{"a list", `{"type":"array","items":{"type":"string"}}`, ": its root is no object"},
		{"object or null", `{"type":["object","null"],"properties":{}}`, ": its root is no object"},
		{"any object", inside(`{"type":"object"}`), "/properties/a: an object may hold anything"},
		{"any value", inside(`{"description":"D"}`), "/properties/a: it says nothing of a value"},
		{"any value, boldly", inside(`true`), "/properties/a: it says nothing of a value"},
		{"any list", inside(`{"type":"array"}`), "/properties/a: a list may hold anything"},
		{"a dictionary", inside(`{"type":"object","properties":{},"additionalProperties":{"type":"string"}}`), "/properties/a/additionalProperties: the object takes other properties than its own"},
		{"a reference", inside(`{"$ref":"#/$defs/a"}`), "/properties/a/$ref: $ref is not known there"},
		{"keywords", inside(`{"type":"string","not":{},"if":{}}`), "/properties/a/not: not is not known there\n/properties/a/if: if is not known there"},
		{"deep inside", inside(`{"type":"array","items":{"anyOf":[{"type":"string"},{}]}}`), "/properties/a/items/anyOf/1: it says nothing of a value"},
		{"no list", inside(`{"anyOf":{}}`), "/properties/a/anyOf: there is nothing to choose from"},
		{"no mapping", `{"type":"object","properties":[]}`, "/properties: there are no schemas by name"},
		{"too deep", inside(strings.Repeat(`{"type":"array","items":`, 200) + `{"type":"string"}` + strings.Repeat(`}`, 200)), ": it is too deeply nested"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := defaults()
			var got []string
			for _, f := range c.Unheld(engine.ModelSettings{Model: newClaude}, json.RawMessage(tt.schema)) {
				if got = append(got, f.At+": "+f.Message); f.Hint == "" {
					t.Errorf("no way out of %s", f.Message)
				}
			}
			if diff := cmp.Diff(tt.want, strings.Join(got, "\n")); diff != "" {
				t.Error(diff)
			}
		})
	}
}

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
			if got := c.Unheld(engine.ModelSettings{Model: tt.model}, json.RawMessage(`{"type":"object"}`)); len(got) != tt.want {
				t.Errorf("%d faults, not %d: %v", len(got), tt.want, got)
			}
		})
	}
}
