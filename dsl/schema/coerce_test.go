package schema_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pexctl/pex/dsl/schema"
)

func TestCoerce(t *testing.T) {
	const args = `{"type": "object", "properties": {
		"n": {"type": "integer"}, "x": {"type": "number"}, "on": {"type": "boolean"}, "s": {"type": "string"},
		"o": {"type": "object", "properties": {"k": {"type": "integer"}}}, "l": {"type": "array", "items": {"type": "integer"}},
		"pair": {"prefixItems": [{"type": "string"}, {"type": "integer"}]},
		"opt": {"type": ["integer", "null"]}, "either": {"anyOf": [{"type": "integer"}, {"type": "boolean"}]},
		"text": {"anyOf": [{"type": "string"}, {"type": "integer"}]}, "open": {"anyOf": [{}, {"type": "integer"}]},
		"ref": {"$ref": "#/$defs/r"}, "level": {"enum": [1, 2, 3]}, "one": {"const": 1},
		"all": {"allOf": [{"type": "object", "properties": {"k": {"type": "integer"}}}, {"required": ["k"]}]},
		"free": {}, "tree": {"$ref": "#/$defs/tree"}},
		"additionalProperties": {"type": "boolean"},
		"$defs": {"r": {"type": "integer"}, "tree": {"type": "object", "properties": {"v": {"type": "integer"}, "next": {"$ref": "#/$defs/tree"}}}}}`
	cases := []struct{ name, value, want, changed string }{
		{"nothing to do", `{"n": 3, "x": 3, "on": true, "s": "3", "o": {}, "l": [1]}`, ``, ""},
		{"an integer", `{"n": "3"}`, `{"n": 3}`, "/n: integer given as a string"},
		{"with blanks", `{"n": " -3 "}`, `{"n": -3}`, "/n: integer given as a string"},
		{"a number", `{"x": "0.5"}`, `{"x": 0.5}`, "/x: number given as a string"},
		{"an integer", `{"x": "5"}`, `{"x": 5}`, "/x: integer given as a string"},
		{"a boolean", `{"on": "True"}`, `{"on": true}`, "/on: boolean given as a string"},
		{"an object", `{"o": "{\"k\": \"1\"}"}`, `{"o": {"k": 1}}`, "/o: object given as a string\n/o/k: integer given as a string"},
		{"a list", `{"l": "[1, \"2\"]"}`, `{"l": [1, 2]}`, "/l: array given as a string\n/l/1: integer given as a string"},
		{"by position", `{"pair": [1, "2"]}`, `{"pair": ["1", 2]}`, "/pair/0: string given as an integer\n/pair/1: integer given as a string"},
		{"a string", `{"s": 12.50}`, `{"s": "12.50"}`, "/s: string given as a number"},
		{"a string of a boolean", `{"s": false}`, `{"s": "false"}`, "/s: string given as a boolean"},
		{"null as text", `{"opt": "null"}`, `{"opt": null}`, "/opt: null given as a string"},
		{"alternatives", `{"either": "true"}`, `{"either": true}`, "/either: boolean given as a string"},
		{"a reference", `{"ref": "7"}`, `{"ref": 7}`, "/ref: integer given as a string"},
		{"an enum", `{"level": "2"}`, `{"level": 2}`, "/level: integer given as a string"},
		{"a const", `{"one": "1"}`, `{"one": 1}`, "/one: integer given as a string"},
		{"under allOf", `{"all": {"k": "1"}}`, `{"all": {"k": 1}}`, "/all/k: integer given as a string"},
		{"another property", `{"zzz": "false"}`, `{"zzz": false}`, "/zzz: boolean given as a string"},
		{"in a recursive schema", `{"tree": {"next": {"next": {"v": "1"}}}}`, `{"tree": {"next": {"next": {"v": 1}}}}`, "/tree/next/next/v: integer given as a string"},
		{"the whole", `"{\"n\": 1}"`, `{"n": 1}`, "/: object given as a string"},
		{"a string where one may be", `{"text": "3"}`, ``, ""},
		{"a string where anything may be", `{"open": "3", "free": "3"}`, ``, ""},
		{"no plain meaning", `{"n": "three", "x": "1,5", "on": "yes", "o": "[1]", "l": "1", "level": "007", "s": null, "ref": 1.5, "opt": ""}`, ``, ""},
		{"several, sorted", `{"x": "1", "n": "2"}`, `{"n": 2, "x": 1}`, "/n: integer given as a string\n/x: integer given as a string"},
	}
	s := compile(t, args)
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			given := decode(t, c.value)
			got, changed := s.Coerce(given)
			want := c.want
			if want == "" {
				want = c.value
			}
			if diff := cmp.Diff(decode(t, want), got); diff != "" {
				t.Error(diff)
			}
			var lines []string
			for _, change := range changed {
				lines = append(lines, change.String())
			}
			if diff := cmp.Diff(c.changed, strings.Join(lines, "\n")); diff != "" {
				t.Error(diff)
			}
			if diff := cmp.Diff(decode(t, c.value), given); diff != "" {
				t.Errorf("the value given was changed: %s", diff)
			}
		})
	}
}

func TestChangeHasBothValues(t *testing.T) {
	s := compile(t, `{"type": "object", "properties": {"n": {"type": "integer"}, "l": {"type": "array", "items": {"type": "integer"}}}}`)
	_, got := s.Coerce(decode(t, `{"n": "9007199254740993", "l": "[\"1\"]"}`))
	want := []schema.Change{
		{Path: "/l", From: `["1"]`, To: []any{"1"}},
		{Path: "/l/0", From: "1", To: json.Number("1")},
		{Path: "/n", From: "9007199254740993", To: json.Number("9007199254740993")},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestDecodeKeepsNumbers(t *testing.T) {
	got := decode(t, `[9007199254740993, 1.10]`)
	if diff := cmp.Diff([]any{json.Number("9007199254740993"), json.Number("1.10")}, got); diff != "" {
		t.Error(diff)
	}
}
