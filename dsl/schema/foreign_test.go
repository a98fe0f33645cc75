package schema_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/pexctl/pex/dsl/schema"
)

func TestCompileForeign(t *testing.T) {
	cases := []struct{ name, src, good, bad, notes string }{
		{"an earlier draft", `{"$schema": "http://json-schema.org/draft-07/schema#", "type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]}`, `{"a": "x"}`, `{}`, ""},
		{"definitions", `{"$schema": "http://json-schema.org/draft-07/schema#", "$ref": "#/definitions/a", "definitions": {"a": {"type": "integer"}}}`, `1`, `"x"`, ""},
		{"ids inside", `{"id": "http://x/y", "properties": {"id": {"$id": "z", "type": "integer"}}}`, `{"id": 1}`, `{"id": "x"}`, ""},
		{"items by position", `{"items": [{"type": "string"}], "additionalItems": false}`, `["a"]`, `["a", 1]`, ""},
		{"an exclusive bound of Draft 4", `{"minimum": 0, "exclusiveMinimum": true, "maximum": 9, "exclusiveMaximum": false}`, `9`, `0`, ""},
		{"lookahead", `{"type": "string", "pattern": "^(?!x)"}`, `"x"`, `1`, "/pattern: it is no RE2 pattern, left out"},
		{"lookahead in names", `{"type": "object", "patternProperties": {"^(?=x)": {}}, "additionalProperties": false}`, `{"x": 1}`, `1`, "/additionalProperties: it goes with patternProperties, left out\n/patternProperties: it has a name that is no RE2 pattern, left out"},
		{"a page", `{"properties": {"a": {"$ref": "https://example.com/a.json"}}, "required": ["a"]}`, `{"a": 1}`, `{}`, "/properties/a/$ref: it is outside the schema, left out"},
		{"a dynamic reference", `{"type": "object", "properties": {"a": {"$dynamicRef": "#n"}}}`, `{"a": 1}`, `1`, "/properties/a/$dynamicRef: it is not supported, left out"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			s, notes, err := schema.CompileForeign([]byte(c.src))
			if err != nil {
				t.Fatal(err)
			}
			if err := s.Validate(decode(t, c.good)); err != nil {
				t.Error(err)
			}
			if err := s.Validate(decode(t, c.bad)); err == nil {
				t.Errorf("%s is valid", c.bad)
			}
			if got := strings.Join(notes, "\n"); got != c.notes {
				t.Errorf("notes %s, want %s", got, c.notes)
			}
		})
	}
	for _, src := range []string{`[`, `[]`, `{"type": "strng"}`, `{"$ref": "#/definitions/none"}`, doubling(20), strings.Repeat(`{"not":`, 50) + `{}` + strings.Repeat(`}`, 50)} {
		_, _, err := schema.CompileForeign([]byte(src))
		if _, ok := errors.AsType[schema.Problems](err); !ok {
			t.Errorf("%.40s: %v", src, err)
		}
	}
}
