package openai_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/pexctl/pex/engine/component"
	"github.com/pexctl/pex/engine/model"
	"github.com/pexctl/pex/providers/modelhttp/modelhttptest"
	"github.com/pexctl/pex/providers/openai"
)

// faultText returns faults as text. Each must have a hint.
func faultText(t *testing.T, found component.Faults) string {
	t.Helper()
	var out []string
	for _, f := range found {
		if out = append(out, f.At+": "+f.Message); f.Hint == "" {
			t.Errorf("no way out of %s", f.Message)
		}
	}
	return strings.Join(out, "\n")
}

func TestStrictModeOfMistralRequiresAdditionalProperties(t *testing.T) {
	const open = ": the object allows additional properties"
	tests := []struct{ name, how, base, schema, want string }{
		{"closed, and a property is optional", "json_schema", "", `{"type":"object","properties":{"a":{"type":"string","default":"b","minLength":1}},"additionalProperties":false}`, ""},
		{"no object", "json_schema", "", `{"type":"array","items":{"type":"string"}}`, ""},
		{"a dictionary", "json_schema", "", `{"type":"object","additionalProperties":{"type":"string"}}`, ""},
		{"open", "json_schema", "", `{"type":"object"}`, open},
		{"open on purpose", "json_schema", "", `{"type":"object","additionalProperties":true}`, open},
		{"open inside", "json_schema", "", `{"type":"array","items":{"anyOf":[{"type":"null"},{"properties":{"a/b":{"type":"object"}},"additionalProperties":false}]},"$defs":{"d":{"type":"object"}}}`, "/$defs/d" + open + "\n/items/anyOf/1/properties/a~1b" + open},
		{"JSON mode", "json_object", "", `{"type":"object"}`, ""},
		{"another server", "json_schema", "https://example.com", `{"type":"object"}`, ""},
		{"no JSON", "json_schema", "", `{`, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := openai.MistralConfig{StructuredOutput: tt.how}
			got := faultText(t, c.UnenforcedKeywords(model.Settings{BaseURL: tt.base}, json.RawMessage(tt.schema)))
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// The API rejects calls whose schema violates a rule, so those are sent without the mode.
func TestRulesOfTheStrictMode(t *testing.T) {
	in := func(s string) string {
		return `{"type":"object","properties":{"a":` + s + `},"required":["a"],"additionalProperties":false,"$defs":{"d":{"type":"string"}}}`
	}
	tests := []struct{ name, schema, want string }{
		{"a text", in(`{"type":"string","format":"date-time","pattern":"^a","description":"D"}`), ""},
		{"a value of an enum, without a type", in(`{"enum":["a"]}`), ""},
		{"a reference", in(`{"$ref":"#/$defs/d"}`), ""},
		{"a list or nothing", in(`{"type":["array","null"],"items":{"type":"string"}}`), ""},
		{"a format that it does not know", in(`{"type":["string","null"],"format":"uri"}`), "/properties/a/format: format uri is not supported"},
		{"keywords beside a reference", in(`{"$ref":"#/$defs/d","description":"D"}`), "/properties/a/$ref: a reference has other keywords next to it"},
		{"no type", in(`{"description":"D"}`), "/properties/a: it allows any value"},
		{"no type in a list", in(`{"type":"array","items":{}}`), "/properties/a/items: it allows any value"},
		{"any list", in(`{"type":"array"}`), "/properties/a: a list allows any items"},
		{"a tuple, reported once", in(`{"type":"array","prefixItems":[{"type":"string"}]}`), "/properties/a/prefixItems: prefixItems is not supported"},
		{"a choice at the root", `{"type":"object","properties":{},"anyOf":[{"type":"object","additionalProperties":false}],"additionalProperties":false}`, "/anyOf: the root must not be a choice"},
		{"required and no property", `{"type":"object","properties":{},"required":["b"],"additionalProperties":false}`, "/required: b is required but not a property"},
		{"one is not required", `{"type":"object","properties":{"a":{"type":"string"}},"additionalProperties":false}`, "/properties/a: a is not required"},
		{
			"several are not required, reported once for each object",
			`{"type":"object","properties":{"b":{"type":"string"},"a":{"type":"object","properties":{"d":{"type":"null"},"c":{"type":"null"}},"additionalProperties":false}},"additionalProperties":false}`,
			": a, b are not required\n/properties/a: c, d are not required",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := openai.Config{StructuredOutput: "json_schema"}
			got := faultText(t, c.UnenforcedKeywords(model.Settings{}, json.RawMessage(tt.schema)))
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestSchemasThatOllamaRejects(t *testing.T) {
	const (
		pattern = ": the server rejects the call because of a pattern that does not match the whole text"
		unknown = ": the server rejects the call because of a schema without a type"
		away    = ": the server rejects the call because of a reference out of the schema"
	)
	in := func(s string) string { return `{"type":"object","properties":{"a":` + s + `}}` }
	tests := []struct{ name, how, schema, want string }{
		{"open, with bounds", "json_schema", in(`{"type":"integer","minimum":1,"not":{"const":3}}`), ""},
		{"a pattern of the whole", "json_schema", in(`{"type":"string","pattern":"^a+$"}`), ""},
		{"a pattern of a part", "json_schema", in(`{"type":"string","pattern":"a+"}`), "/properties/a/pattern" + pattern},
		{"a pattern of text or null", "json_schema", in(`{"type":["null","string"],"pattern":"^a+"}`), "/properties/a/pattern" + pattern},
		{"a pattern beside an enum", "json_schema", in(`{"enum":["a"],"pattern":"a+"}`), ""},
		{"a pattern of a number", "json_schema", in(`{"type":"number","pattern":"a+"}`), ""},
		{"any value", "json_schema", in(`{}`), ""},
		{"any value, with words", "json_schema", in(`{"description":"D"}`), "/properties/a" + unknown},
		{"any value, boldly", "json_schema", in(`true`), "/properties/a" + unknown},
		{"a format", "json_schema", in(`{"format":"date"}`), ""},
		{"any object and any list", "json_schema", `{"type":"array","items":{"type":["object","array"]}}`, ""},
		{"in a choice", "json_schema", `{"oneOf":[{"type":"string"},{"title":"T"}]}`, "/oneOf/1" + unknown},
		{"in a dictionary", "json_schema", `{"additionalProperties":{"title":"T"}}`, "/additionalProperties" + unknown},
		{"in a tuple", "json_schema", `{"prefixItems":[{"title":"T"}]}`, "/prefixItems/0" + unknown},
		{"in a definition, reported once", "json_schema", `{"properties":{"a":{"$ref":"#/$defs/d"},"b":{"$ref":"#/$defs/d"}},"$defs":{"d":{"items":{"title":"T"}}}}`, "/$defs/d/items" + unknown},
		{"a definition that nothing needs", "json_schema", `{"type":"object","$defs":{"d":{"title":"T"}}}`, ""},
		{"recursive", "json_schema", `{"properties":{"a":{"$ref":"#/$defs/d"}},"$defs":{"d":{"properties":{"d":{"$ref":"#/$defs/d"}}}}}`, ""},
		{"of itself", "json_schema", in(`{"$ref":"#"}`), "/properties/a/$ref" + away},
		{"elsewhere", "json_schema", in(`{"$ref":"https://example.com/s"}`), "/properties/a/$ref" + away},
		{"JSON mode", "json_object", in(`true`), ""},
		{"no JSON", "json_schema", `{`, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := openai.OllamaConfig{StructuredOutput: tt.how}
			got := faultText(t, c.UnenforcedKeywords(model.Settings{BaseURL: "http://localhost:1"}, json.RawMessage(tt.schema)))
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestStrictModeOfMistralHasItsOwnRule(t *testing.T) {
	for _, tt := range []struct {
		name, schema string
		want         bool
	}{
		{"an optional property", `{"type":"object","properties":{"a":{"type":"string"}},"additionalProperties":false}`, true},
		{"open", `{"type":"object","properties":{"a":{"type":"string"}},"required":["a"]}`, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			req := everything()
			req.Schema.Schema = json.RawMessage(tt.schema)
			got := asked(t, func(base string) (model.Model, error) {
				c := mistralDefaults()
				return openai.NewMistral(&c, model.Settings{Model: "m", BaseURL: base, APIKey: "sk-1234"}, modelhttptest.DisableWaits)
			}, req, nil)
			if strict := strings.Contains(strings.ReplaceAll(string(got.body), " ", ""), `"strict":true`); strict != tt.want {
				t.Errorf("strict: %v in %s", strict, got.body)
			}
		})
	}
}
