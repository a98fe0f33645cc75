package engine

import (
	"encoding/json"
	"fmt"

	"github.com/pexctl/pex/engine/jsonvalue"
)

// ParametersSchema returns the JSON Schema of the parameters, as an object.
func (p *Program) ParametersSchema() json.RawMessage {
	properties, required := map[string]json.RawMessage{}, []string{}
	for i := range p.Parameters {
		q := &p.Parameters[i]
		properties[q.Name] = q.describedSchema()
		if q.Required {
			required = append(required, q.Name)
		}
	}
	return jsonvalue.Encode(map[string]any{
		"$schema": "https://json-schema.org/draft/2020-12/schema", "title": fmt.Sprintf("Parameters of %s", p.Name),
		"type": "object", "properties": properties, "required": required, "additionalProperties": false,
	})
}

// describedSchema returns the schema with the documentation and the default.
func (q *Parameter) describedSchema() json.RawMessage {
	schema := map[string]any{}
	if err := jsonvalue.Unmarshal(q.Schema, &schema); err != nil { // true, or none
		schema = map[string]any{}
	}
	if _, has := schema["description"]; !has && q.Doc != "" {
		schema["description"] = q.Doc
	}
	if _, has := schema["default"]; !has && q.Default != nil {
		schema["default"] = q.Default
	}
	return jsonvalue.Encode(schema)
}
