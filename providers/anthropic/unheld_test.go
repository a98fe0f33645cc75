package anthropic_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/providers/anthropic"
)

func TestWhatOfASchemaClaudeIsNotHeldTo(t *testing.T) {
	inside := func(s string) string {
		return `{"type":"object","properties":{"a":` + s + `},"required":["a"]}`
	}
	chain := `"d0":{"type":"string"}`
	for i := range 40 {
		chain += fmt.Sprintf(`,"d%d":{"type":"object","required":["a","b"],"properties":{"a":{"$ref":"#/$defs/d%d"},"b":{"$ref":"#/$defs/d%d"}}}`, i+1, i, i)
	}
	tests := []struct{ name, schema, want string }{
		{"left open by the way, with bounds", inside(`{"type":"string","minLength":2}`), ""},
		{"a list", `{"type":"array","items":{"type":"string"}}`, ": its root is no object"},
		{"anything", `true`, ": its root is no object\n: it says nothing of a value"},
		{"any object", inside(`{"type":"object"}`), "/properties/a: an object may hold anything"},
		{"any value", inside(`{"description":"D"}`), "/properties/a: it says nothing of a value"},
		{"any list", inside(`{"type":"array"}`), "/properties/a: a list may hold anything"},
		{"a dictionary", inside(`{"type":"object","additionalProperties":{"type":"string"}}`), "/properties/a/additionalProperties: the object takes other properties than its own"},
		{"keywords", inside(`{"type":"string","allOf":[],"patternProperties":{}}`), "/properties/a/allOf: allOf is not known there\n/properties/a/patternProperties: patternProperties is not known there"},
		{"deep inside", inside(`{"type":"array","items":{"anyOf":[{"type":"string"},{}]}}`), "/properties/a/items/anyOf/1: it says nothing of a value"},
		{"both unions", inside(`{"anyOf":[{"type":"null"}],"oneOf":[{"type":"null"}]}`), "/properties/a/oneOf: anyOf and oneOf stand side by side"},
		{"values", inside(`{"enum":[[1]]}`), "/properties/a/enum: enum has a list or an object as a value"},
		{"of itself", inside(`{"$ref":"#"}`), "/properties/a/$ref: it is recursive"},
		{"recursive, told once", `{"type":"object","properties":{"a":{"$ref":"#/$defs/n"}},"$defs":{"n":{"type":"object","properties":{"n":{"$ref":"#/$defs/n"}}}}}`, "/$defs/n/properties/n/$ref: it is recursive"},
		{"elsewhere", inside(`{"$ref":"https://example.com/s"}`), "/properties/a/$ref: the reference leads to no definition at the top"},
		{"definitions inside", inside(`{"type":"string","$defs":{}}`), "/properties/a/$defs: definitions stand at the top only"},
		{"too many optional", `{"type":"object","properties":{` + many(25) + `"z":{"type":"string"}},"required":["z"]}`, ": 25 properties may be missing where 24 may"},
		{"too many of several types", `{"type":"object","required":["a"],"properties":{"a":{"anyOf":[` + strings.Repeat(`{"type":["string","null"]},`, 16) + `{"type":"null"}]}}}`, ": 17 values may be of several types where 16 may"},
		{"references that double", `{"type":"object","properties":{"a":{"$ref":"#/$defs/d40"}},"required":["a"],"$defs":{` + chain + `}}`, ": it is too large or too deeply nested"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := defaults()
			var got []string
			for _, f := range c.Unheld(engine.ModelSettings{}, json.RawMessage(tt.schema)) {
				if got = append(got, f.At+": "+f.Message); f.Hint == "" {
					t.Errorf("no way out of %s", f.Message)
				}
			}
			if diff := cmp.Diff(tt.want, strings.Join(got, "\n")); diff != "" {
				t.Error(diff)
			}
			if said := held(t, c, tt.schema) == ""; said != (tt.want != "") {
				t.Errorf("told of the schema in words: %v", said)
			}
		})
	}
}

func TestClaudeIsHeldToNothingWhereNobodyKnowsOrWants(t *testing.T) {
	tests := []struct {
		name, how, base, schema string
		want                    int
	}{
		{"Anthropic's", "json_schema", "", `{"type":"object"}`, 1},
		{"by a tool", "tool", "", `{"type":"object"}`, 0},
		{"in words", "prompt", "", `{"type":"object"}`, 0},
		{"nothing", "none", "", `{"type":"object"}`, 0},
		{"another server", "json_schema", "https://example.com", `{"type":"object"}`, 0},
		{"no JSON", "json_schema", "", `{`, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := anthropic.Config{StructuredOutput: tt.how}
			if got := c.Unheld(engine.ModelSettings{BaseURL: tt.base}, json.RawMessage(tt.schema)); len(got) != tt.want {
				t.Errorf("%d faults, not %d: %v", len(got), tt.want, got)
			}
		})
	}
}
