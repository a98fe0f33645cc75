package genai

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
)

// maxNesting is how deep schemas are read; below that anything goes.
const maxNesting = 64

// portable is a JSON Schema in the words that the API documents, in the order
// in which it was written, since models answer in that order. Other keywords
// are left out: the API takes no notice of some and refuses others, and the
// caller validates in any case. A constant is an enum of one, a tuple has
// prefixItems, and definitions are $defs.
func portable(schema json.RawMessage) (json.RawMessage, error) {
	if !json.Valid(schema) {
		return nil, errors.New("it is not valid JSON")
	}
	return subschema(schema, maxNesting), nil
}

// member is a key of an object with its value.
type member struct {
	key   string
	value json.RawMessage
}

func subschema(raw json.RawMessage, depth int) json.RawMessage {
	in, ok := members(raw)
	if !ok || depth == 0 {
		return json.RawMessage("{}")
	}
	in = inlined(in)
	refers, defines := false, false
	for _, m := range in {
		refers = refers || m.key == "$ref"
		defines = defines || m.key == "$defs"
	}
	var out []member
	for _, m := range in {
		if refers && !strings.HasPrefix(m.key, "$") { // the API wants a reference to stand alone
			if m.key != "definitions" {
				continue
			}
		}
		if m.key == "definitions" && !defines {
			m.key = "$defs"
		}
		if m, ok = keyword(m, depth-1); ok {
			out = append(out, m)
		}
	}
	return joined(out)
}

// keyword is one keyword in the API's terms; ok is false for those that have none.
func keyword(m member, depth int) (out member, ok bool) {
	switch m.key {
	case "$id", "$anchor", "type", "format", "title", "description", "enum",
		"minItems", "maxItems", "minimum", "maximum", "required", "propertyOrdering":
		return m, true
	case "$ref":
		m.value = bytes.Replace(m.value, []byte(`"#/definitions/`), []byte(`"#/$defs/`), 1)
		return m, true
	case "properties", "$defs":
		inner, ok := members(m.value)
		for i := range inner {
			inner[i].value = subschema(inner[i].value, depth)
		}
		return member{m.key, joined(inner)}, ok
	case "prefixItems", "anyOf", "oneOf":
		return alternatives(m.key, m.value, depth)
	case "items":
		if m.value[0] == '[' {
			return alternatives("prefixItems", m.value, depth)
		}
		return member{m.key, subschema(m.value, depth)}, true
	case "additionalProperties":
		if m.value[0] == '{' {
			m.value = subschema(m.value, depth)
		}
		return m, true
	case "const":
		c := m.value[0]
		return member{"enum", json.RawMessage("[" + string(m.value) + "]")}, c == '"' || c == '-' || c >= '0' && c <= '9'
	}
	return m, false
}

func alternatives(key string, raw json.RawMessage, depth int) (member, bool) {
	var list []json.RawMessage
	if json.Unmarshal(raw, &list) != nil {
		return member{}, false
	}
	for i := range list {
		list[i] = subschema(list[i], depth)
	}
	b, err := json.Marshal(list)
	return member{key, b}, err == nil
}

// inlined puts an allOf of one schema, as generators write it around a
// reference, in the place of its keywords.
func inlined(in []member) []member {
	for i, m := range in {
		var list []json.RawMessage
		if m.key != "allOf" || json.Unmarshal(m.value, &list) != nil || len(list) != 1 {
			continue
		}
		inner, _ := members(list[0])
		return append(append(append([]member(nil), in[:i]...), inner...), in[i+1:]...)
	}
	return in
}

// members are the keys and values of an object, in order.
func members(raw json.RawMessage) (out []member, ok bool) {
	dec := json.NewDecoder(bytes.NewReader(raw))
	if t, err := dec.Token(); err != nil || t != json.Delim('{') {
		return nil, false
	}
	for dec.More() {
		key, err := dec.Token()
		if err != nil {
			return nil, false
		}
		var value json.RawMessage
		if err := dec.Decode(&value); err != nil {
			return nil, false
		}
		name, _ := key.(string)
		out = append(out, member{name, value})
	}
	return out, true
}

// joined is an object of members.
func joined(list []member) json.RawMessage {
	out := []byte{'{'}
	for i, m := range list {
		if i > 0 {
			out = append(out, ',')
		}
		name, err := json.Marshal(m.key)
		if err != nil {
			continue
		}
		out = append(append(append(out, name...), ':'), m.value...)
	}
	return append(out, '}')
}
