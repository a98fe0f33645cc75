package bedrock

import (
	"encoding/json"

	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/component"
	"github.com/pexctl/pex/engine/members"
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
	root, _ := members.Of(schema)
	if types := kinds(root); len(types) != 1 || types[0] != "object" {
		n.add("", "its root is no object", "wrap it: {type: object, properties: {answer: ...}, required: [answer]}")
	}
	out := n.closed(schema, "")
	if n.found != nil {
		return nil, n.found
	}
	out, err := json.Marshal(out) // without the blanks of its parts
	if err != nil {
		n.add("", "it is not valid JSON: "+err.Error(), "mend it")
	}
	return out, n.found
}

// kinds are the types that a schema names.
func kinds(n members.Object) []string {
	var one string
	var many []string
	if json.Unmarshal(n.Get("type"), &one) == nil {
		return []string{one}
	}
	_ = json.Unmarshal(n.Get("type"), &many) // neither: none are named
	return many
}
