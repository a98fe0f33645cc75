package genai_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/pexctl/pex/engine/model"
	"github.com/pexctl/pex/providers/genai"
)

func TestUnenforcedKeywordsOfGemini(t *testing.T) {
	const list = `{"type":"object","required":["next"],"properties":{"next":{"$ref":"#/$defs/node"}},"$defs":{"node":{"type":"object","required":["next"],"properties":{"next":{"anyOf":[{"type":"null"},{"$ref":"#/$defs/node"}]}}}}}`
	tests := []struct{ name, schema, want string }{
		{"supported keywords", `{"type":"object","properties":{"a":{"type":"string"},"b":{"enum":["x",null]},"c":{"const":1}},"additionalProperties":{"type":"number"}}`, ""},
		{"constraints", `{"type":"object","minProperties":1,"properties":{"a":{"type":"string","pattern":"^a","minLength":2,"not":{"const":"b"}},"l":{"type":"array","uniqueItems":true}}}`, ""},
		{"any value", `{"type":"object","properties":{"a":true,"b":{}}}`, ""},
		{"an allOf of one", `{"properties":{"a":{"allOf":[{"type":"string"}]}}}`, ""},
		{"a property of a keyword's name", `{"type":"object","properties":{"allOf":{"type":"string"}}}`, ""},
		{"allOf", `{"properties":{"a/b":{"allOf":[{"type":"object"},{"type":"object"}]}}}`, "/properties/a~1b/allOf: allOf is not supported"},
		{"in an allOf of one", `{"allOf":[{"patternProperties":{}}]}`, "/allOf/0/patternProperties: patternProperties is not supported"},
		{"in a list", `{"type":"array","items":{"const":true}}`, "/items/const: const must be a string or a number"},
		{"in a choice", `{"anyOf":[{"type":"string"},{"const":null}]}`, "/anyOf/1/const: const must be a string or a number"},
		{"a constant object", `{"const":{}}`, "/const: const must be a string or a number"},
		{"an external reference", `{"properties":{"a":{"$ref":"https://example.com/s"}}}`, "/properties/a/$ref: the reference is outside the schema"},
		{"recursive in an optional property", `{"type":"object","properties":{"a":{"$ref":"#"}}}`, ""},
		{"recursive", `{"type":"object","required":["a"],"properties":{"a":{"type":"array","items":{"$ref":"#"}}}}`, "/properties/a/items/$ref: a recursive schema is allowed only in an optional property"},
		{"a recursive definition, reported once", list, "/$defs/node/properties/next/anyOf/1/$ref: a recursive schema is allowed only in an optional property"},
		{"a recursive definition below an optional property", strings.Replace(list, `"required":["next"],`, "", 1), "/$defs/node/properties/next/anyOf/1/$ref: a recursive schema is allowed only in an optional property"},
		{"mutually recursive", `{"definitions":{"a":{"required":["b"],"properties":{"b":{"$ref":"#/definitions/b"}}},"b":{"properties":{"a":{"$ref":"#/definitions/a"}}}}}`, ""},
		{"a definition used twice", `{"required":["a","b"],"properties":{"a":{"$ref":"#/$defs/s"},"b":{"$ref":"#/$defs/s"}},"$defs":{"s":{"type":"string"}}}`, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var got []string
			for _, f := range (&genai.Config{StructuredOutput: "json_schema"}).UnenforcedKeywords(model.Settings{}, json.RawMessage(tt.schema)) {
				if got = append(got, f.At+": "+f.Message); f.Hint == "" {
					t.Errorf("no hint for %s", f.Message)
				}
			}
			if diff := cmp.Diff(tt.want, strings.Join(got, "\n")); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestUnenforcedKeywordsNeedNativeSchemas(t *testing.T) {
	schema := json.RawMessage(`{"const":true}`)
	tests := []struct {
		name, how, base string
		schema          json.RawMessage
		want            int
	}{
		{"Google's", "json_schema", "", schema, 1},
		{"JSON mode", "json_object", "", schema, 0},
		{"nothing", "none", "", schema, 0},
		{"another server", "json_schema", "https://example.com", schema, 0},
		{"invalid JSON", "json_schema", "", json.RawMessage(`{`), 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := genai.Config{StructuredOutput: tt.how}
			if got := c.UnenforcedKeywords(model.Settings{BaseURL: tt.base}, tt.schema); len(got) != tt.want {
				t.Errorf("%d faults, want %d: %v", len(got), tt.want, got)
			}
		})
	}
}
