package schema_test

import (
	"strings"
	"testing"

	"github.com/pexctl/pex/dsl/schema"
)

// plainSchemas are schemas, and what plain does with them.
var plainSchemas = []struct {
	schema string
	known  bool
}{
	{`{"type":"object","properties":{"a":{"type":"number"},"b":{"type":"integer"}},"required":["a","b"]}`, true},
	{`{"type":"object","properties":{"a":{"type":["string","null"]}},"additionalProperties":false}`, true},
	{`{"type":"array","items":{"type":"object","required":["a"]}}`, true},
	{`{"enum":["x","y"]}`, true},
	{`{"enum":[]}`, true},
	{`{"type":[]}`, false},
	{`{"$schema":"http://json-schema.org/draft-04/schema#","type":"integer"}`, true},
	{`{"description":"d","default":1}`, true},
	{`{"enum":["x",1]}`, false},
	{`{"type":"string","format":"date"}`, false},
	{`{"properties":{"a":false}}`, false},
	{`{"properties":{"a":{"minimum":3}}}`, false},
	{`{"additionalProperties":{"type":"string"}}`, false},
	{`{"items":true}`, false},
	{`{"not":{}}`, false},
	{`true`, false},
}

var plainValues = []string{
	`null`, `true`, `1`, `-1`, `1.0`, `1e2`, `1.5`, `"x"`, `"z"`, `[]`, `[{"a":1}]`, `[{"b":1}]`, `[1]`, `{}`, `{"a":1,"b":2}`, `{"a":1.5,"b":2}`,
	`{"a":1,"b":2.0}`, `{"a":1,"b":2.5}`, `{"a":"s"}`, `{"a":null}`, `{"a":null,"c":1}`, `{"a":true,"b":[]}`,
}

func TestPlainKnowsItsKeywords(t *testing.T) {
	for _, tt := range plainSchemas {
		if s, err := schema.Compile([]byte(tt.schema)); err == nil && s.IsPlain() != tt.known {
			t.Errorf("%s: known is %t", tt.schema, s.IsPlain())
		}
	}
}

// A value that plain accepts is valid for the library, and plain accepts most valid ones.
func TestPlainAcceptsWhatTheLibraryAccepts(t *testing.T) {
	for _, tt := range plainSchemas {
		for _, value := range plainValues {
			if says, valid := compare(t, tt.schema, value); tt.known && !says && valid && !strings.ContainsAny(value, ".e") {
				t.Errorf("%s: plain does not accept %s", tt.schema, value)
			}
		}
	}
}

func FuzzPlain(f *testing.F) {
	for _, tt := range plainSchemas {
		for _, value := range plainValues {
			f.Add(tt.schema, value)
		}
	}
	f.Fuzz(func(t *testing.T, source, value string) { compare(t, source, value) })
}

// compare fails the test if plain accepts an invalid value.
func compare(t *testing.T, source, value string) (plainly, valid bool) {
	t.Helper()
	s, err := schema.Compile([]byte(source))
	if err != nil {
		return false, false
	}
	v, err := schema.Decode([]byte(value))
	if err != nil {
		return false, false
	}
	err = s.ValidateByLibrary(v)
	if plainly = s.AcceptsPlainly(v); plainly && err != nil {
		t.Errorf("%s: plain accepts %s, but %v", source, value, err)
	}
	return plainly, err == nil
}
