package anthropic

import (
	"encoding/json"
	"fmt"

	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/component"
	"github.com/pexctl/pex/engine/members"
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
	top, _ := members.Of(schema)
	if string(top.Get("type")) != `"object"` {
		n.add("", "its root is no object", "wrap it: {type: object, properties: {answer: ...}, required: [answer]}")
	}
	for _, key := range []string{"$defs", "definitions"} {
		defs, _ := members.Of(top.Get(key))
		for _, d := range defs {
			n.definitions["#/"+key+"/"+d.Name] = d.Value
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
