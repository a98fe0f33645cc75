package genai

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"

	"github.com/pexctl/pex/engine/orderedjson"
)

// maxNesting is the maximum depth of schemas; deeper parts allow any value.
const maxNesting = 64

// portable returns a JSON Schema with only the keywords that the API documents, in their order, because models write
// properties in that order. The API ignores or rejects other keywords; the caller validates the reply anyway. A
// constant becomes an enum, a tuple becomes prefixItems, and definitions become $defs.
func portable(schema json.RawMessage) (json.RawMessage, error) {
	if !json.Valid(schema) {
		return nil, errors.New("it is not valid JSON")
	}
	return subschema(schema, maxNesting), nil
}

func subschema(raw json.RawMessage, depth int) json.RawMessage {
	in, ok := orderedjson.Parse(raw)
	if !ok || depth == 0 {
		return json.RawMessage("{}")
	}
	in = inlined(in)
	refers, defines := false, false
	for _, m := range in {
		refers = refers || m.Name == "$ref"
		defines = defines || m.Name == "$defs"
	}
	var out orderedjson.Object
	for _, m := range in {
		if refers && !strings.HasPrefix(m.Name, "$") { // the API allows no other keywords next to a reference
			if m.Name != "definitions" {
				continue
			}
		}
		if m.Name == "definitions" && !defines {
			m.Name = "$defs"
		}
		if m, ok = keyword(m, depth-1); ok {
			out = append(out, m)
		}
	}
	return out.JSON()
}

// keyword converts one keyword; ok is false if the API does not support it.
func keyword(m orderedjson.Member, depth int) (out orderedjson.Member, ok bool) {
	switch m.Name {
	case "$id", "$anchor", "type", "format", "title", "description", "enum",
		"minItems", "maxItems", "minimum", "maximum", "required", "propertyOrdering":
		return m, true
	case "$ref":
		m.Value = bytes.Replace(m.Value, []byte(`"#/definitions/`), []byte(`"#/$defs/`), 1)
		return m, true
	case "properties", "$defs":
		inner, ok := orderedjson.Parse(m.Value)
		for i := range inner {
			inner[i].Value = subschema(inner[i].Value, depth)
		}
		return orderedjson.Member{Name: m.Name, Value: inner.JSON()}, ok
	case "prefixItems", "anyOf", "oneOf":
		return alternatives(m.Name, m.Value, depth)
	case "items":
		if m.Value[0] == '[' {
			return alternatives("prefixItems", m.Value, depth)
		}
		return orderedjson.Member{Name: m.Name, Value: subschema(m.Value, depth)}, true
	case "additionalProperties":
		if m.Value[0] == '{' {
			m.Value = subschema(m.Value, depth)
		}
		return m, true
	case "const":
		c := m.Value[0]
		return orderedjson.Member{Name: "enum", Value: json.RawMessage("[" + string(m.Value) + "]")}, c == '"' || c == '-' || c >= '0' && c <= '9'
	}
	return m, false
}

func alternatives(key string, raw json.RawMessage, depth int) (orderedjson.Member, bool) {
	var list []json.RawMessage
	if json.Unmarshal(raw, &list) != nil {
		return orderedjson.Member{}, false
	}
	for i := range list {
		list[i] = subschema(list[i], depth)
	}
	b, err := json.Marshal(list)
	return orderedjson.Member{Name: key, Value: b}, err == nil
}

// inlined replaces an allOf of one schema by its keywords. Generators write such an allOf around references.
func inlined(in orderedjson.Object) orderedjson.Object {
	for i, m := range in {
		var list []json.RawMessage
		if m.Name != "allOf" || json.Unmarshal(m.Value, &list) != nil || len(list) != 1 {
			continue
		}
		inner, _ := orderedjson.Parse(list[0])
		return append(append(append(orderedjson.Object(nil), in[:i]...), inner...), in[i+1:]...)
	}
	return in
}
