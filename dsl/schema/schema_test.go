package schema_test

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pexctl/pex/dsl/schema"
)

func compile(t *testing.T, src string) *schema.Schema {
	t.Helper()
	s, err := schema.Compile([]byte(src))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func decode(t *testing.T, src string) any {
	t.Helper()
	v, err := schema.Decode([]byte(src))
	if err != nil {
		t.Fatal(err)
	}
	return v
}

const report = `{
  "type": "object", "required": ["title", "score"], "additionalProperties": false,
  "properties": {
    "title": {"type": "string", "minLength": 1}, "score": {"type": "number", "minimum": 0, "maximum": 1},
    "when": {"type": "string", "format": "date-time"}, "code": {"type": "string", "pattern": "^[A-Z]{3}$"},
    "tags": {"type": "array", "items": {"type": "string"}, "uniqueItems": true, "maxItems": 3},
    "kind": {"enum": ["a", "b"]}, "n": {"type": "integer", "multipleOf": 2},
    "who": {"oneOf": [{"type": "string"}, {"type": "object", "required": ["id"], "properties": {"id": {"type": "integer"}}}]},
    "tree": {"$ref": "#/$defs/node"}
  },
  "$defs": {"node": {"type": "object", "properties": {"left": {"$ref": "#/$defs/node"}, "right": {"$ref": "#/$defs/node"}, "v": {"type": "integer"}}}}
}`

func TestValidate(t *testing.T) {
	cases := []struct{ name, value, want string }{
		{"valid", `{"title": "t", "score": 0.5, "when": "2026-01-02T03:04:05Z", "code": "ABC", "tags": ["a"], "kind": "b", "n": 4, "who": {"id": 1}, "tree": {"left": {"v": 1}}}`, ""},
		{"missing", `{}`, "/: missing properties: 'title', 'score'"},
		{"not an object", `[1]`, "/: must be object, not array"},
		{"unknown, in one order", `{"title": "t", "score": 1, "z": 1, "y": 2, "x": 3}`, "/: unknown properties: 'x', 'y', 'z'"},
		{"several, by path", `{"title": 3, "score": 2, "kind": "c", "tags": ["a", 1, "a"], "n": 3}`, `/kind: value must be one of "a", "b"
/n: 3 not multipleOf 2
/score: must be <= 1 but found 2
/tags: items at index 0 and 2 are equal
/tags/1: must be string, not number
/title: must be string, not number`},
		{"a format", `{"title": "t", "score": 1, "when": "yesterday"}`, "/when: 'yesterday' is not valid 'date-time'"},
		{"a pattern", `{"title": "t", "score": 1, "code": "abc"}`, "/code: does not match pattern '^[A-Z]{3}$'"},
		{"alternatives", `{"title": "t", "score": 1, "who": {"id": "x"}}`, "/who: must match one of 2 alternatives: must be string, not object; /id must be integer, not string"},
		{"deep in a tree", `{"title": "t", "score": 1, "tree": {"left": {"right": {"v": "x"}}}}`, "/tree/left/right/v: must be integer, not string"},
		{"a big integer", `{"title": "t", "score": 1, "n": 9007199254740993}`, "/n: 9007199254740993 not multipleOf 2"},
		{"an integer with a fraction is an integer", `{"title": "t", "score": 1, "n": 4.0}`, ""},
	}
	s := compile(t, report)
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			for range 5 { // the library iterates over maps in random order
				err := s.Validate(decode(t, c.value))
				got := ""
				if err != nil {
					got = err.Error()
					if _, ok := errors.AsType[schema.Violations](err); !ok {
						t.Errorf("error of type %T", err)
					}
				}
				if diff := cmp.Diff(c.want, got); diff != "" {
					t.Fatal(diff)
				}
			}
		})
	}
}

func TestNamesWithOddCharacters(t *testing.T) {
	s := compile(t, `{"additionalProperties": {"type": "integer"}}`)
	err := s.Validate(decode(t, `{"a b/c~d%é": "x"}`))
	if err == nil || err.Error() != "/a b~1c~0d%é: must be integer, not string" {
		t.Error(err)
	}
}

func TestViolationsAreLimited(t *testing.T) {
	s := compile(t, `{"items": {"type": "integer"}}`)
	err := s.Validate(decode(t, `[`+strings.Repeat(`"x",`, 49)+`"x"]`))
	if lines := strings.Split(err.Error(), "\n"); len(lines) != 21 || lines[20] != "... and 30 more" {
		t.Errorf("%d lines, the last %q", len(lines), lines[len(lines)-1])
	}
}

func TestCompileProblems(t *testing.T) {
	deep := strings.Repeat(`{"items":`, 40) + `{}` + strings.Repeat(`}`, 40)
	cases := []struct{ name, src, want string }{
		{"no JSON", `{"type": }`, "/: not JSON: invalid character '}' looking for beginning of value"},
		{"two values", `{} {}`, "/: invalid JSON: text after the value, at byte 4"},
		{"nothing", ``, "/: unexpected end of the JSON"},
		{"no schema", `[]`, "/: a schema must be an object, true or false"},
		{"an unknown type", `{"properties": {"a": {"type": "int"}}}`, `/properties/a/type: unknown type "int" (use string, integer, number, boolean, array, object or null)`},
		{"required in the property", `{"properties": {"a": {"type": "string", "required": true}}}`, `/properties/a/required: required must be an array, not a boolean (to require "a", remove this key and add required: [a] next to the properties key that contains "a")`},
		{"required as one name", `{"properties": {"a": {"type": "string"}}, "required": "a"}`, `/required: required must be an array, not a string (write a list of property names, such as required: [a, b])`},
		{"required is a property", `{"properties": {"required": "string"}}`, `/properties/required: property required must be an object or boolean, not a string (write required: {type: string})`},
		{"items by position", `{"$schema": "https://json-schema.org/draft/2020-12/schema", "items": [{"type": "string"}]}`, `/items: items must be an object or boolean, not an array (use prefixItems for a list of schemas by position)`},
		{"another draft", `{"$schema": "http://json-schema.org/draft-03/schema#"}`, "/$schema: http://json-schema.org/draft-03/schema# is not a supported draft (write https://json-schema.org/draft/2020-12/schema or omit $schema; the supported drafts are 2020-12, 2019-09, draft-07, draft-06 and draft-04)"},
		{"two drafts", `{"$schema": "http://json-schema.org/draft-07/schema#", "items": {"$schema": "http://json-schema.org/draft-04/schema#"}}`, "/items/$schema: http://json-schema.org/draft-04/schema# is not the draft of the whole schema (write the whole schema in one draft)"},
		{"a reference whose neighbours count in some drafts", `{"definitions": {"a": {}}, "properties": {"b": {"$ref": "#/definitions/a", "maxItems": 2}}}`, "/: $ref beside maxItems means one thing in draft-07, which has definitions, and another in 2020-12 (set the draft: $schema: https://json-schema.org/draft/2020-12/schema applies both, $schema: http://json-schema.org/draft-07/schema# only the $ref)"},
		{"a file", `{"$ref": "file:///etc/passwd"}`, "/$ref: $ref file:///etc/passwd is outside the schema (copy the schema to $defs and write #/$defs/name)"},
		{"a page", `{"items": {"$ref": "https://example.com/a.json#/x"}}`, "/items/$ref: $ref https://example.com/a.json#/x is outside the schema (copy the schema to $defs and write #/$defs/name)"},
		{"a neighbour", `{"$ref": "other.json"}`, "/$ref: $ref other.json is outside the schema (copy the schema to $defs and write #/$defs/name)"},
		{"an id inside", `{"items": {"$id": "x"}}`, "/items/$id: $id inside a schema is not supported (move the part to $defs and use $ref: '#/$defs/name')"},
		{"a dynamic reference", `{"$dynamicRef": "#x"}`, "/$dynamicRef: $dynamicRef is not supported (use $ref)"},
		{"a reference to nothing", `{"$ref": "#/$defs/usr", "$defs": {"user": {}, "team": {}}}`, "/$ref: $ref #/$defs/usr refers to nothing in this schema ($defs contains: team, user)"},
		{"a reference to itself", `{"$ref": "#"}`, "/: a $ref refers to itself (a recursive schema must go through properties or items)"},
		{"a reference in a ring", `{"$ref": "#/$defs/a", "$defs": {"a": {"allOf": [{"$ref": "#/$defs/b"}]}, "b": {"$ref": "#/$defs/a"}}}`, "/: a $ref refers to itself (a recursive schema must go through properties or items)"},
		{"lookahead", `{"pattern": "^(?!x).*$"}`, "/pattern: pattern ^(?!x).*$ uses lookahead, lookbehind or a backreference (patterns use RE2 syntax; use two patterns under allOf, or not: {pattern: ...})"},
		{"a backreference", `{"patternProperties": {"(a)\\1": {}}}`, `/patternProperties/(a)\1: pattern (a)\1 uses lookahead, lookbehind or a backreference (patterns use RE2 syntax; use two patterns under allOf, or not: {pattern: ...})`},
		{"a broken pattern", `{"pattern": "("}`, "/pattern: pattern (: missing closing ): `(` (patterns use RE2 syntax)"},
		{"too deep", deep, "/" + strings.TrimSuffix(strings.Repeat("items/", 33), "/") + ": schemas are nested more than 32 levels deep (move parts to $defs and use $ref)"},
		{"too large", `{"description": "` + strings.Repeat("x", 256<<10) + `"}`, "/: the schema has 262163 bytes; the maximum is 262144"},
		{"two problems", `{"pattern": "(", "items": {"$ref": "#/x"}}`, "/items/$ref: $ref #/x refers to nothing in this schema (write #/$defs/name and move the part to $defs)\n/pattern: pattern (: missing closing ): `(` (patterns use RE2 syntax)"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			_, err := schema.Compile([]byte(c.src))
			if _, ok := errors.AsType[schema.Problems](err); !ok {
				t.Fatalf("error %v of type %T", err, err)
			}
			if diff := cmp.Diff(c.want, err.Error()); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestDataInASchemaIsNotASchema(t *testing.T) {
	for _, src := range []string{
		`{"const": {"$ref": "file:///etc/passwd"}}`, `{"enum": [{"pattern": "("}]}`, `{"default": {"$ref": "#/no"}, "examples": [{"$schema": "x"}]}`,
		`{"properties": {"$ref": {"type": "string"}, "pattern": {"type": "string"}, "$schema": {}}}`,
		`{"$schema": "https://json-schema.org/draft/2020-12/schema", "$id": "https://example.com/s.json", "$ref": "#/$defs/a", "$defs": {"a": {"$anchor": "x"}, "b": {"$ref": "#x"}}}`,
		`true`, `false`, `{}`, `{"x-own": {"$ref": 3}}`,
	} {
		if _, err := schema.Compile([]byte(src)); err != nil {
			t.Errorf("%s: %v", src, err)
		}
	}
}

func TestProperty(t *testing.T) {
	s, err := schema.Property([]byte(`{"type": "integer", "required": true, "default": 3, "minimum": 1}`))
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Validate(decode(t, `0`)); err == nil {
		t.Error("0 is valid")
	}
	for _, src := range []string{`true`, `{"type": "object", "required": ["a"]}`} {
		if _, err := schema.Property([]byte(src)); err != nil {
			t.Errorf("%s: %v", src, err)
		}
	}
	if _, err := schema.Property([]byte(`{"type": "integr", "required": false}`)); err == nil {
		t.Error("an unknown type compiles")
	}
}

// doubling returns a schema of n definitions that expands to 2^n subschemas.
func doubling(n int) string {
	var b strings.Builder
	b.WriteString(`{"$ref": "#/$defs/d0", "$defs": {`)
	for i := range n {
		fmt.Fprintf(&b, `"d%d": {"allOf": [{"$ref": "#/$defs/d%d"}, {"$ref": "#/$defs/d%d"}]},`, i, i+1, i+1)
	}
	fmt.Fprintf(&b, `"d%d": {"type": "string"}}}`, n)
	return b.String()
}

func TestValidationIsBounded(t *testing.T) {
	expression := `{"$ref": "#/$defs/e", "$defs": {"e": {"oneOf": [{"type": "integer"},` +
		`{"type": "object", "properties": {"op": {"const": "add"}, "l": {"$ref": "#/$defs/e"}}, "required": ["op"]},` +
		`{"type": "object", "properties": {"op": {"const": "mul"}, "l": {"$ref": "#/$defs/e"}}, "required": ["op"]},` +
		`{"type": "object", "properties": {"op": {"const": "neg"}, "l": {"$ref": "#/$defs/e"}}, "required": ["op"]}]}}}`
	nested := strings.Repeat(`{"op": "neg", "l": `, 30) + "1" + strings.Repeat("}", 30)
	many := strings.Repeat(`"x", `, 20_000) + `"x"`
	cases := []struct{ name, schema, value, want string }{
		{"a schema that doubles", doubling(23), `"x"`, "more than 10000 subschemas"},
		{"a schema that doubles a little", doubling(10), `"x"`, ""},
		{"a list under a schema that doubles a little", strings.Replace(doubling(10), `"$ref": "#/$defs/d0"`, `"items": {"$ref": "#/$defs/d0"}`, 1), `[` + many + `]`, "too large"},
		{"alternatives within alternatives", expression, nested, "nested too deep"},
		{"a list of alternatives", `{"items": ` + `{"$ref": "#/$defs/e"}, ` + expression[strings.Index(expression, `"$defs"`):], `[` + strings.Repeat(`{"op": "neg", "l": {"op": "add", "l": 1}},`, 999) + `1]`, ""},
		{"a long chain", `{"properties": {"next": {"$ref": "#"}}}`, strings.Repeat(`{"next": `, 90) + "1" + strings.Repeat("}", 90), ""},
		{"a chain too long", `{"properties": {"next": {"$ref": "#"}}}`, strings.Repeat(`{"next": `, 101) + "1" + strings.Repeat("}", 101), "nested too deep"},
		{"alternatives within a few", expression, `{"op": "neg", "l": {"op": "add", "l": 3}}`, ""},
		{"unique items", `{"uniqueItems": true}`, `[` + many + `]`, "the maximum with uniqueItems is 2000"},
		{"a deep value", `{}`, strings.Repeat("[", 5000) + strings.Repeat("]", 5000), "nested more than 1000 levels deep"},
		{"a huge exponent", `{"type": "integer"}`, `1e999999`, "too large or too small"},
		{"many huge exponents", `{"multipleOf": 3}`, `-1E+99999999`, "too large or too small"},
		{"a long number", `{"minimum": 3}`, strings.Repeat("9", 100_000), "too large or too small"},
		{"a slow pattern", `{"pattern": "^(a+)+$"}`, `"` + strings.Repeat("a", 50_000) + `!"`, "does not match"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			start := time.Now()
			s, err := schema.Compile([]byte(c.schema))
			if err == nil {
				err = s.Validate(decode(t, c.value))
			}
			if d := time.Since(start); d > 10*time.Second*slower { // 200 ms on an idle machine
				t.Errorf("took %v", d)
			}
			if got := fmt.Sprint(err); (err == nil) != (c.want == "") || !strings.Contains(got, c.want) {
				t.Errorf("got %.200s, want %s", got, c.want)
			}
		})
	}
}

func TestOnlyJSONIsChecked(t *testing.T) {
	s := compile(t, `{}`)
	for _, v := range []any{time.Now(), map[any]any{}, []string{"a"}, struct{}{}, map[string]any{"a": []any{make(chan int)}}} {
		if err := s.Validate(v); err == nil || !strings.Contains(err.Error(), "is not valid in JSON") {
			t.Errorf("%T: %v", v, err)
		}
	}
}

func TestSchemaIsSafeForConcurrentUse(t *testing.T) {
	for _, src := range []string{report, `{"type": "object", "required": ["title"], "properties": {"score": {"maximum": 1}}}`} {
		s := compile(t, src)
		var wg sync.WaitGroup
		for range 8 {
			wg.Go(func() {
				for range 50 {
					if err := s.Validate(map[string]any{"title": "t", "score": 2.0}); err == nil || err.Error() != "/score: must be <= 1 but found 2" {
						t.Error(err)
					}
				}
			})
		}
		wg.Wait()
	}
}

func BenchmarkValidate(b *testing.B) {
	s, _ := schema.Compile([]byte(report))
	v, _ := schema.Decode([]byte(`{"title": "t", "score": 0.5, "tags": ["a", "b"], "who": {"id": 1}}`))
	b.ReportAllocs()
	for b.Loop() {
		if err := s.Validate(v); err != nil {
			b.Fatal(err)
		}
	}
}
