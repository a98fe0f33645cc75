package bedrock

import (
	"bytes"
	"encoding/json"
	"errors"

	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/component"
)

var _ engine.SchemaHolder = (*Config)(nil)

// Unheld implements engine.SchemaHolder. Models that are asked by a tool or in
// words are held to no schema.
func (c *Config) Unheld(s engine.ModelSettings, schema json.RawMessage) component.Faults {
	if c.StructuredOutput != formNative && (c.StructuredOutput != formAuto || !recent(c.base(s.Model))) || !json.Valid(schema) {
		return nil
	}
	_, found := native(schema)
	return found
}

// native writes a schema as Bedrock's structured output takes it, every object
// closed, no bounds; or what keeps it from that: an object with open keys, a
// choice between schemas, a reference.
//
// The rules: docs.aws.amazon.com/bedrock/latest/userguide/structured-output.html,
// under "Supported JSON Schema features".
func native(schema json.RawMessage) (json.RawMessage, component.Faults) {
	var n narrowing
	root, _ := parse(schema)
	if types := kinds(root); len(types) != 1 || types[0] != "object" {
		n.add("", "its root is no object", "wrap it: {type: object, properties: {answer: ...}, required: [answer]}")
	}
	out := n.closed(schema, "")
	if n.found != nil {
		return nil, n.found
	}
	return out, nil
}

// schemaNode is a JSON object whose keys keep their order: models write their
// replies in it.
type schemaNode []keyword

type keyword struct {
	name  string
	value json.RawMessage
}

func parse(text json.RawMessage) (schemaNode, error) {
	if !json.Valid(text) {
		return nil, errors.New("not JSON")
	}
	d := json.NewDecoder(bytes.NewReader(text))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return nil, errors.New("not an object")
	}
	out := schemaNode{}
	for d.More() {
		name, err := d.Token()
		if err != nil {
			return nil, err
		}
		var value json.RawMessage
		if err := d.Decode(&value); err != nil {
			return nil, err
		}
		key, _ := name.(string) // what else is a key of valid JSON
		out = append(out, keyword{key, value})
	}
	return out, nil
}

// MarshalJSON implements json.Marshaler.
func (n schemaNode) MarshalJSON() ([]byte, error) {
	b := []byte{'{'}
	for i, k := range n {
		if i > 0 {
			b = append(b, ',')
		}
		name, err := json.Marshal(k.name)
		if err != nil {
			return nil, err
		}
		b = append(append(append(b, name...), ':'), k.value...)
	}
	return append(b, '}'), nil
}

func (n schemaNode) get(name string) json.RawMessage {
	for _, k := range n {
		if k.name == name {
			return k.value
		}
	}
	return nil
}

// kinds are the types that a schema names.
func kinds(n schemaNode) []string {
	var one string
	var many []string
	if json.Unmarshal(n.get("type"), &one) == nil {
		return []string{one}
	}
	_ = json.Unmarshal(n.get("type"), &many) // neither: none are named
	return many
}
