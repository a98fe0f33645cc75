package anthropic

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/component"
)

// The bounds of a schema that the API holds a model to.
const (
	maxOptional = 24 // properties that need not be there
	maxUnions   = 16 // places where one of several types may stand
	maxDepth    = 64
	maxNodes    = 10_000 // looked at: references may make a short schema a long one
)

var _ engine.SchemaHolder = (*Config)(nil)

// Unheld implements engine.SchemaHolder. What a server at another address does
// with a schema is not known.
func (c *Config) Unheld(s engine.ModelSettings, schema json.RawMessage) component.Faults {
	if c.StructuredOutput != nativeSchema || s.BaseURL != "" || !json.Valid(schema) {
		return nil
	}
	_, found := native(schema)
	return found
}

// native is a schema as the API can hold a model to it, or what keeps it from
// that. The API takes a part of JSON Schema: every object is closed, and bounds
// of numbers, texts and lists are not known. So objects that name their
// properties are closed, which no caller misses, and what only bounds is left
// out, since the caller validates in any case. An object that may hold anything,
// a schema without a type and a recursive one cannot be said. The order of
// properties stays: it is the order in which they are written.
//
// The rules: platform.claude.com/docs/en/build-with-claude/structured-outputs,
// under "JSON Schema limitations" and "Schema complexity limits".
func native(schema json.RawMessage) (json.RawMessage, component.Faults) {
	n := narrowing{definitions: map[string]json.RawMessage{}}
	top, _ := members(schema)
	if string(find(top, "type")) != `"object"` {
		n.add("", "its root is no object", "wrap it: {type: object, properties: {answer: ...}, required: [answer]}")
	}
	for _, key := range []string{"$defs", "definitions"} {
		defs, _ := members(find(top, key))
		for _, d := range defs {
			n.definitions["#/"+key+"/"+d.key] = d.value
		}
	}
	out := n.node(schema, "", 0)
	if n.optional > maxOptional {
		n.add("", fmt.Sprintf("%d properties may be missing where %d may", n.optional, maxOptional), "name more of them in required")
	}
	if n.unions > maxUnions {
		n.add("", fmt.Sprintf("%d values may be of several types where %d may", n.unions, maxUnions), "leave types or alternatives out")
	}
	if n.found != nil {
		return nil, n.found
	}
	return out, nil
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
