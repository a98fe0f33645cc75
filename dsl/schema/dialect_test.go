package schema_test

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const (
	draft4    = `"$schema": "http://json-schema.org/draft-04/schema#", `
	draft6    = `"$schema": "http://json-schema.org/draft-06/schema#", `
	draft7    = `"$schema": "http://json-schema.org/draft-07/schema#", `
	draft2019 = `"$schema": "https://json-schema.org/draft/2019-09/schema", `
)

func TestSchemaFollowsItsDraft(t *testing.T) {
	for _, c := range []struct{ name, src, good, bad string }{
		{"an exclusive bound of draft-04", `{` + draft4 + `"minimum": 0, "exclusiveMinimum": true}`, `1`, `0`},
		{"no const in draft-04", `{` + draft4 + `"const": 1, "type": "integer"}`, `2`, `"x"`},
		{"const in draft-06", `{` + draft6 + `"const": 1}`, `1`, `2`},
		{"no if in draft-06", `{` + draft6 + `"if": {}, "then": false, "type": "integer"}`, `2`, `"x"`},
		{"if in draft-07", `{` + draft7 + `"if": {"type": "integer"}, "then": {"minimum": 5}}`, `6`, `2`},
		{"items by position in draft-07", `{` + draft7 + `"items": [{"type": "string"}], "additionalItems": false}`, `["a"]`, `["a", 1]`},
		{"items by position without a draft", `{"items": [{"type": "string"}], "additionalItems": false}`, `["a"]`, `["a", 1]`},
		{"a $ref stands alone in draft-07", `{` + draft7 + `"definitions": {"a": {"type": "integer"}}, "properties": {"x": {"$ref": "#/definitions/a", "maximum": 1}}}`, `{"x": 2}`, `{"x": "y"}`},
		{"a $ref has neighbours in 2019-09", `{` + draft2019 + `"$defs": {"a": {"type": "integer"}}, "properties": {"x": {"$ref": "#/$defs/a", "maximum": 1}}}`, `{"x": 1}`, `{"x": 2}`},
		{"dependentRequired in 2019-09", `{` + draft2019 + `"dependentRequired": {"a": ["b"]}}`, `{"a": 1, "b": 1}`, `{"a": 1}`},
		{"dependencies in draft-07", `{` + draft7 + `"dependencies": {"a": ["b"]}}`, `{"a": 1, "b": 1}`, `{"a": 1}`},
		{"an empty enum", `{"properties": {"a": {"enum": []}}}`, `{}`, `{"a": 1}`},
		{"const null", `{"const": null}`, `null`, `1`},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := compile(t, c.src)
			if err := s.Validate(decode(t, c.good)); err != nil {
				t.Errorf("%s: %v", c.good, err)
			}
			if err := s.Validate(decode(t, c.bad)); err == nil {
				t.Errorf("%s is valid", c.bad)
			}
		})
	}
}

func TestCurrentConvertsToTheNewestDraft(t *testing.T) {
	for src, want := range map[string]string{
		`{"type": "object"}`: `{"type": "object"}`,
		`{` + draft7 + `"definitions": {"a": {"type": "string"}}, "properties": {"x": {"$ref": "#/definitions/a", "maxLength": 1}, "y": {"items": [{}], "additionalItems": false}}, "dependencies": {"x": ["y"], "y": {"minProperties": 2}}}`: `{"definitions":{"a":{"type":"string"}},"dependentRequired":{"x":["y"]},"dependentSchemas":{"y":{"minProperties":2}},"properties":{"x":{"$ref":"#/definitions/a"},"y":{"items":false,"prefixItems":[{}]}}}`,
		`{` + draft4 + `"id": "http://a/b", "maximum": 3, "exclusiveMaximum": true}`: `{"exclusiveMaximum":3}`,
	} {
		s := compile(t, src)
		if diff := cmp.Diff(want, string(s.Current())); diff != "" || !json.Valid(s.Current()) {
			t.Error(diff)
		}
	}
}

func TestTypedAndTakesText(t *testing.T) {
	for src, want := range map[string][2]bool{ // typed, takes text
		`{}`: {}, `true`: {}, `{"minLength": 1}`: {}, `{"properties": {"a": {"type": "string"}}}`: {}, `{"anyOf": [{"type": "string"}, {}]}`: {},
		`{"type": "object"}`: {true, false}, `{"enum": [1, 2]}`: {true, false}, `{"allOf": [{"type": "array"}]}`: {true, false},
		`{"type": "string"}`: {true, true}, `{"type": ["null", "string"]}`: {true, true}, `{"enum": ["a"]}`: {true, true}, `{"const": "a"}`: {true, true},
		`{"anyOf": [{"type": "object"}, {"$ref": "#/$defs/s"}], "$defs": {"s": {"type": "string"}}}`: {true, true},
	} {
		s := compile(t, src)
		if got := [2]bool{s.Typed(), s.TakesText()}; got != want {
			t.Errorf("%s: %v, want %v", src, got, want)
		}
	}
}
