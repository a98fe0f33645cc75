package anthropic

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
)

// The bounds of a schema that the API holds a model to.
const (
	maxOptional = 24 // properties that need not be there
	maxUnions   = 16 // places where one of several types may stand
	maxDepth    = 64
)

// formats are those of strings that the API knows.
var formats = []string{"date-time", "time", "date", "duration", "email", "hostname", "uri", "ipv4", "ipv6", "uuid"}

// native is a schema as the API can hold a model to it, nil where it cannot. The
// API takes a part of JSON Schema: every object is closed, and bounds of numbers,
// texts and lists are not known. So objects that name their properties are
// closed, which no caller misses, and what only bounds is left out, since the
// caller validates in any case. An object that may hold anything, a schema
// without a type and a recursive one cannot be said. The order of properties
// stays: it is the order in which they are written.
func native(schema json.RawMessage) json.RawMessage {
	top, ok := members(schema)
	if !ok || string(find(top, "type")) != `"object"` {
		return nil
	}
	n := narrowing{definitions: map[string]json.RawMessage{}}
	for _, key := range []string{"$defs", "definitions"} {
		defs, _ := members(find(top, key))
		for _, d := range defs {
			n.definitions["#/"+key+"/"+d.key] = d.value
		}
	}
	out, ok := n.node(schema, 0)
	if !ok || n.optional > maxOptional || n.unions > maxUnions {
		return nil
	}
	return out
}

// narrowing writes one schema.
type narrowing struct {
	definitions map[string]json.RawMessage
	within      []string // the definitions that are being followed
	optional    int
	unions      int
}

// member is a field of a JSON object, which keeps its place.
type member struct {
	key   string
	value json.RawMessage
}

// members are the fields of a JSON object in their order; ok is false for
// anything else.
func members(raw json.RawMessage) (out []member, ok bool) {
	dec := json.NewDecoder(bytes.NewReader(raw))
	if open, err := dec.Token(); err != nil || open != json.Delim('{') {
		return nil, false
	}
	for dec.More() {
		key, err := dec.Token()
		if err != nil {
			return nil, false
		}
		m := member{key: key.(string)} // keys of objects are
		if dec.Decode(&m.value) != nil {
			return nil, false
		}
		out = append(out, m)
	}
	return out, true
}

func find(fields []member, key string) json.RawMessage {
	for _, m := range fields {
		if m.key == key {
			return m.value
		}
	}
	return nil
}

// write writes fields in their order.
func write(fields []member) json.RawMessage {
	out := []byte{'{'}
	for i, m := range fields {
		if i > 0 {
			out = append(out, ',')
		}
		key, err := json.Marshal(m.key)
		if err != nil {
			return nil
		}
		out = append(append(append(out, key...), ':'), m.value...)
	}
	return append(out, '}')
}

// node writes a schema; ok is false where the API has no words for it.
func (n *narrowing) node(raw json.RawMessage, depth int) (json.RawMessage, bool) {
	fields, ok := members(raw)
	if !ok || depth > maxDepth {
		return nil, false
	}
	if ref := find(fields, "$ref"); ref != nil && depth > 0 {
		return write([]member{{"$ref", ref}}), n.follow(ref, depth)
	}
	types, ok := n.shape(fields)
	if !ok {
		return nil, false
	}
	var out []member
	for _, m := range fields {
		value, keep, ok := n.field(m, depth)
		if !ok {
			return nil, false
		}
		if m.key == "oneOf" {
			m.key = "anyOf"
		}
		if keep {
			out = append(out, member{m.key, value})
		}
	}
	if slices.Contains(types, "object") {
		out = append(out, member{"additionalProperties", json.RawMessage("false")})
	}
	return write(out), true
}

// follow looks at the definition that a reference names.
func (n *narrowing) follow(ref json.RawMessage, depth int) bool {
	var name string
	if json.Unmarshal(ref, &name) != nil {
		return false
	}
	def, ok := n.definitions[name]
	if !ok || slices.Contains(n.within, name) {
		return false
	}
	n.within = append(n.within, name)
	_, ok = n.node(def, depth+1)
	n.within = n.within[:len(n.within)-1]
	return ok
}

// shape finds the types of a schema. ok is false where it says too little to be
// held to: any value at all, any object, any list.
func (n *narrowing) shape(fields []member) (types []string, ok bool) {
	raw := find(fields, "type")
	var one string
	if json.Unmarshal(raw, &one) == nil {
		types = []string{one}
	} else if json.Unmarshal(raw, &types) != nil && raw != nil {
		return nil, false
	}
	anyOf, oneOf := find(fields, "anyOf"), find(fields, "oneOf")
	switch {
	case anyOf != nil && oneOf != nil:
		return nil, false
	case anyOf != nil || oneOf != nil || len(types) > 1:
		n.unions++
	case raw == nil && find(fields, "enum") == nil && find(fields, "const") == nil:
		return nil, false
	}
	if slices.Contains(types, "array") && find(fields, "items") == nil {
		return nil, false
	}
	return types, !slices.Contains(types, "object") || n.closed(fields)
}

// closed says that an object can be closed: it names its properties, and no others are meant.
func (n *narrowing) closed(fields []member) bool {
	extra := string(find(fields, "additionalProperties"))
	properties, _ := members(find(fields, "properties"))
	if extra != "false" && (extra != "" || len(properties) == 0) {
		return false
	}
	var required []string
	_ = json.Unmarshal(find(fields, "required"), &required) // of another kind: none is
	for _, p := range properties {
		if !slices.Contains(required, p.key) {
			n.optional++
		}
	}
	return true
}

// field writes one keyword of a schema; keep is false for what only bounds.
func (n *narrowing) field(m member, depth int) (value json.RawMessage, keep, ok bool) {
	switch m.key {
	case "type", "required", "description", "title":
		return m.value, true, true
	case "enum":
		return m.value, true, scalars(m.value)
	case "const":
		return m.value, true, scalars(append(append([]byte{'['}, m.value...), ']'))
	case "items":
		value, ok = n.node(m.value, depth+1)
		return value, true, ok
	case "properties":
		value, ok = n.each(m.value, depth)
		return value, true, ok
	case "$defs", "definitions":
		if depth > 0 {
			return nil, false, false
		}
		value, ok = n.each(m.value, depth)
		return value, true, ok
	case "anyOf", "oneOf":
		value, ok = n.list(m.value, depth)
		return value, true, ok
	case "format":
		return m.value, slices.Contains(formats, strings.Trim(string(m.value), `"`)), true
	case "minItems":
		return m.value, string(m.value) == "0" || string(m.value) == "1", true
	case "allOf", "patternProperties", "prefixItems", "$ref":
		return nil, false, false
	}
	return nil, false, true
}

// each writes the schemas of an object by name.
func (n *narrowing) each(raw json.RawMessage, depth int) (json.RawMessage, bool) {
	fields, ok := members(raw)
	for i := range fields {
		if ok {
			fields[i].value, ok = n.node(fields[i].value, depth+1)
		}
	}
	return write(fields), ok
}

// list writes the schemas of a list.
func (n *narrowing) list(raw json.RawMessage, depth int) (json.RawMessage, bool) {
	var all []json.RawMessage
	if json.Unmarshal(raw, &all) != nil || len(all) == 0 {
		return nil, false
	}
	for i := range all {
		var ok bool
		if all[i], ok = n.node(all[i], depth+1); !ok {
			return nil, false
		}
	}
	out, err := json.Marshal(all)
	return out, err == nil
}

// scalars says that no value of a list is a list or an object.
func scalars(raw json.RawMessage) bool {
	var all []any
	if json.Unmarshal(raw, &all) != nil {
		return false
	}
	return !slices.ContainsFunc(all, func(v any) bool {
		switch v.(type) {
		case map[string]any, []any:
			return true
		}
		return false
	})
}
