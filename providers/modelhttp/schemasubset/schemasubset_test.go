package schemasubset_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/pexctl/pex/engine/component"
	"github.com/pexctl/pex/providers/modelhttp/schemasubset"
)

// limits are limits like a vendor's.
var limits = schemasubset.Limits{Optional: 24, Unions: 16}

// inside returns an object schema with s as its property a.
func inside(s string) string {
	return `{"type":"object","properties":{"a":` + s + `},"required":["a"]}`
}

// insideClosed returns inside(s) with the object closed.
func insideClosed(s string) string {
	return strings.TrimSuffix(inside(s), "}") + `,"additionalProperties":false}`
}

func TestSupportedSchemas(t *testing.T) {
	tests := []struct{ name, schema, want string }{
		{
			"closed already", `{"type":"object","properties":{"b":{"type":"string"},"a":{"enum":["x",1,null]}},"required":["b"],"additionalProperties":false}`,
			`{"type":"object","properties":{"b":{"type":"string"},"a":{"enum":["x",1,null]}},"required":["b"],"additionalProperties":false}`,
		},
		{
			"open by default", `{"type":"object","properties":{"l":{"type":"array","items":{"type":"object","properties":{"x":{"type":"number"}}}}}}`,
			`{"type":"object","properties":{"l":{"type":"array","items":{"type":"object","properties":{"x":{"type":"number"}},"additionalProperties":false}}},"additionalProperties":false}`,
		},
		{
			"bounds", `{"type":"object","$schema":"s","properties":{"n":{"type":"integer","minimum":1,"description":"N"},"s":{"type":"string","maxLength":3,"pattern":"x","format":"date"},"f":{"type":"string","format":"phone"},"l":{"type":"array","minItems":1,"maxItems":3,"items":{"const":1}},"m":{"type":"array","minItems":2,"uniqueItems":true,"items":{"type":"null"}}},"minProperties":1}`,
			`{"type":"object","properties":{"n":{"type":"integer","description":"N"},"s":{"type":"string","format":"date"},"f":{"type":"string"},"l":{"type":"array","minItems":1,"items":{"const":1}},"m":{"type":"array","items":{"type":"null"}}},"additionalProperties":false}`,
		},
		{"constraints by subschemas", inside(`{"type":"string","not":{"const":"x"},"contains":{},"propertyNames":{},"dependentRequired":{},"unevaluatedProperties":false}`), insideClosed(`{"type":"string"}`)},
		{"unknown keywords", inside(`{"type":"string","x-order":1,"contentEncoding":"base64","default":"d","examples":["e"]}`), insideClosed(`{"type":"string"}`)},
		{
			"definitions and unions", `{"type":"object","properties":{"p":{"$ref":"#/$defs/p","description":"gone"},"u":{"oneOf":[{"type":"string"},{"$ref":"#/$defs/p"}]}},"$defs":{"p":{"type":["object","null"],"properties":{"x":{"type":"string","minLength":1}}}}}`,
			`{"type":"object","properties":{"p":{"$ref":"#/$defs/p"},"u":{"anyOf":[{"type":"string"},{"$ref":"#/$defs/p"}]}},"$defs":{"p":{"type":["object","null"],"properties":{"x":{"type":"string"}},"additionalProperties":false}},"additionalProperties":false}`,
		},
		{
			"references with escapes", `{"type":"object","properties":{"a":{"$ref":"#/definitions/x~1y"},"b":{"$ref":"#/definitions/Of%3Ctext%3E"}},"definitions":{"x/y":{"type":"string"},"Of<text>":{"type":"string"}}}`,
			`{"type":"object","properties":{"a":{"$ref":"#/definitions/x~1y"},"b":{"$ref":"#/definitions/Of%3Ctext%3E"}},"definitions":{"x/y":{"type":"string"},"Of<text>":{"type":"string"}},"additionalProperties":false}`,
		},
		{"no properties", `{"type":"object","properties":{},"additionalProperties":false}`, `{"type":"object","properties":{},"additionalProperties":false}`},
		{
			"properties of keywords' names", `{"type":"object","properties":{"$ref":{"type":"string"},"allOf":{"type":"string"},"format":{"type":"string"}}}`,
			`{"type":"object","properties":{"$ref":{"type":"string"},"allOf":{"type":"string"},"format":{"type":"string"}},"additionalProperties":false}`,
		},
		{"white space", "{ \"type\": \"object\",\n \"properties\": {\"a\": {\"type\": [\"string\", \"null\"]}} }", `{"type":"object","properties":{"a":{"type":["string","null"]}},"additionalProperties":false}`},
		{"the maximum of optional properties", `{"type":"object","properties":{` + many(24) + `"z":{"type":"string"}},"required":["z"]}`, ""},
		{"a definition counts once", `{"type":"object","properties":{"a":{"$ref":"#/$defs/d"},"b":{"$ref":"#/$defs/d"}},"required":["a","b"],"$defs":{"d":{"type":"object","properties":{` + many(12) + `"u":{"type":["string","null"]}}}}}`, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, faults := schemasubset.Schema(json.RawMessage(tt.schema), limits)
			if faults != nil || tt.want != "" && string(got) != tt.want {
				t.Errorf("got  %s\nwant %s\nfaults %v", got, tt.want, faults)
			}
		})
	}
}

func TestUnsupportedSchemas(t *testing.T) {
	tests := []struct{ name, schema, want string }{
		{"a list", `{"type":"array","items":{"type":"string"}}`, ": the root must be an object"},
		{"object or null", `{"type":["object","null"],"properties":{"a":{"type":"string"}}}`, ": the root must be an object"},
		{"anything", `true`, ": the root must be an object\n: it allows any value"},
		{"any object", inside(`{"type":"object"}`), "/properties/a: an object allows any properties"},
		{"any object, with empty properties", inside(`{"type":"object","properties":{}}`), "/properties/a: an object allows any properties"},
		{"any of all types", inside(`{"type":["string","object"]}`), "/properties/a: an object allows any properties"},
		{"any value", inside(`{"description":"D"}`), "/properties/a: it allows any value"},
		{"any value, by true", inside(`true`), "/properties/a: it allows any value"},
		{"any list", inside(`{"type":"array"}`), "/properties/a: a list allows any items"},
		{"a dictionary", inside(`{"type":"object","additionalProperties":{"type":"string"}}`), "/properties/a/additionalProperties: the object allows additional properties"},
		{"additional properties", inside(`{"type":"object","properties":{"b":{"type":"null"}},"additionalProperties":true}`), "/properties/a/additionalProperties: the object allows additional properties"},
		{"an undefined required property", inside(`{"type":"object","properties":{"b":{"type":"null"}},"required":["c"]}`), "/properties/a/required: c is required but not a property"},
		{"several at once", inside(`{"allOf":[{"type":"string"}]}`), "/properties/a/allOf: allOf is not supported, because its parts cannot be closed"},
		{"patternProperties", inside(`{"type":"object","patternProperties":{"x":{"type":"string"}}}`), "/properties/a/patternProperties: patternProperties is not supported"},
		{"tuples", inside(`{"type":"array","prefixItems":[{"type":"string"}]}`), "/properties/a/prefixItems: prefixItems is not supported"},
		{"conditional keywords", inside(`{"type":"string","if":{},"then":{},"unevaluatedProperties":true}`), "/properties/a/if: if is not supported\n/properties/a/then: then is not supported\n/properties/a/unevaluatedProperties: unevaluatedProperties is not supported"},
		{"both unions", inside(`{"anyOf":[{"type":"null"}],"oneOf":[{"type":"null"}]}`), "/properties/a/oneOf: anyOf and oneOf are used together"},
		{"deep inside", inside(`{"type":"array","items":{"anyOf":[{"type":"string"},{}]}}`), "/properties/a/items/anyOf/1: it allows any value"},
		{"a name with a slash", `{"type":"object","properties":{"x/y":{}}}`, "/properties/x~1y: it allows any value"},
		{"a list among values", inside(`{"enum":["a",[1]]}`), "/properties/a/enum: enum contains a list or an object"},
		{"an object as a constant", inside(`{"const":{}}`), "/properties/a/const: const contains a list or an object"},
		{"not a list", inside(`{"anyOf":{}}`), "/properties/a/anyOf: it must be a list of schemas"},
		{"not a mapping", `{"type":"object","properties":[]}`, "/properties: it must be a mapping of schemas"},
		{"definitions inside", inside(`{"type":"string","$defs":{}}`), "/properties/a/$defs: definitions are allowed only at the top level"},
		{"a reference to nothing", inside(`{"$ref":"#/$defs/a"}`), "/properties/a/$ref: the reference has no definition at the top level"},
		{"a reference elsewhere", inside(`{"$ref":"https://example.com/s"}`), "/properties/a/$ref: the reference has no definition at the top level"},
		{"the root as a reference", `{"type":"object","$ref":"#/$defs/a","$defs":{"a":{"type":"string"}}}`, "/$ref: the root is a reference"},
		{"recursive", inside(`{"$ref":"#"}`), "/properties/a/$ref: it is recursive"},
		{"indirectly recursive, reported once", `{"type":"object","properties":{"a":{"$ref":"#/$defs/n"}},"$defs":{"n":{"type":"array","items":{"$ref":"#/$defs/n"}}}}`, "/$defs/n/items/$ref: it is recursive"},
		{"a referenced definition, reported once", `{"type":"object","properties":{"a":{"$ref":"#/$defs/a"},"b":{"$ref":"#/$defs/a"}},"$defs":{"a":{"type":"object"}}}`, "/$defs/a: an object allows any properties"},
		{"too many optional", `{"type":"object","properties":{` + many(25) + `"z":{"type":"string"}},"required":["z"]}`, ": 25 properties are optional; the maximum is 24"},
		{"too many of several types", inside(`{"anyOf":[` + strings.Repeat(`{"type":["string","null"]},`, 16) + `{"type":"null"}]}`), ": 17 values have several types; the maximum is 16"},
		{"too deep", inside(strings.Repeat(`{"type":"array","items":`, 80) + `{"type":"string"}` + strings.Repeat(`}`, 80)), ": it is too large or too deeply nested"},
		{"references that double", doubled(30), ": it is too large or too deeply nested"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, faults := schemasubset.Schema(json.RawMessage(tt.schema), limits)
			if text := formatFaults(t, faults); text != tt.want || got != nil {
				t.Errorf("got  %q\nwant %q\nschema %s", text, tt.want, got)
			}
		})
	}
}

func TestZeroLimitsAreUnlimited(t *testing.T) {
	schema := `{"type":"object","properties":{` + many(40) + `"u":{"anyOf":[` + strings.Repeat(`{"type":["string","null"]},`, 40) + `{"type":"null"}]}}}`
	if _, faults := schemasubset.Schema(json.RawMessage(schema), schemasubset.Limits{}); faults != nil {
		t.Error(faults)
	}
}

// formatFaults returns faults with their positions. Each must have a hint.
func formatFaults(t *testing.T, faults component.Faults) string {
	t.Helper()
	var out []string
	for _, f := range faults {
		if out = append(out, f.At+": "+f.Message); f.Hint == "" {
			t.Errorf("no hint for %s", f.Message)
		}
	}
	return strings.Join(out, "\n")
}

// many returns n properties, each followed by a comma.
func many(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, `"p%d":{"type":"string"},`, i)
	}
	return b.String()
}

// doubled returns a schema of n definitions, each with two references to the next.
func doubled(n int) string {
	var defs strings.Builder
	for i := range n {
		fmt.Fprintf(&defs, `"d%d":{"type":"object","properties":{"a":{"$ref":"#/$defs/d%d"},"b":{"$ref":"#/$defs/d%[2]d"}}},`, i, i+1)
	}
	return fmt.Sprintf(`{"type":"object","properties":{"a":{"$ref":"#/$defs/d0"}},"$defs":{%s"d%d":{"type":"string"}}}`, defs.String(), n)
}

// FuzzSchema checks that results are valid JSON and unchanged by a second call, and that the others have faults.
func FuzzSchema(f *testing.F) {
	for _, s := range []string{inside(`{"type":"string"}`), doubled(2), inside(`{"oneOf":[{"const":1},{"enum":["<"]}]}`), inside(`{"type":"object"}`)} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, schema string) {
		if !json.Valid([]byte(schema)) {
			return
		}
		got, faults := schemasubset.Schema(json.RawMessage(schema), limits)
		if (got == nil) != (faults != nil) || got != nil && !json.Valid(got) {
			t.Errorf("%s, %v", got, faults)
		}
		if got != nil {
			again, faults := schemasubset.Schema(got, limits)
			if string(again) != string(got) || faults != nil {
				t.Errorf("first %s, then %s, %v", got, again, faults)
			}
		}
	})
}
