package assertion

import (
	"context"
	"errors"

	"github.com/pexctl/pex/engine/component"
	"github.com/pexctl/pex/engine/jsonvalue"
	"github.com/pexctl/pex/eval/trial"
)

// JSONSchemaConfig configures the check json_schema.
type JSONSchemaConfig struct {
	Schema component.SchemaRef `yaml:"schema" required:"true" doc:"JSON Schema: inline, {file: ...} or {use: name}."`
	Path   component.FilterRef `yaml:"path" doc:"JSONPath of the single value to check instead of the whole output."`
}

// JSONSchema checks that the answer matches a JSON Schema.
var JSONSchema = component.New("json_schema", "The output matches a JSON Schema. Without output.schema in the spec, the response must be JSON, alone or in a single code fence.",
	func() JSONSchemaConfig { return JSONSchemaConfig{} }, newJSONSchema)

type jsonSchema struct{ config *JSONSchemaConfig }

var _ trial.Check = jsonSchema{}

func newJSONSchema(c *JSONSchemaConfig, _ trial.CheckSettings) (trial.Check, error) {
	if c.Schema.IsZero() {
		return nil, errors.New("json_schema requires schema")
	}
	return jsonSchema{c}, nil
}

// Check implements trial.Check.
func (j jsonSchema) Check(_ context.Context, s *trial.Subject) (trial.Mark, error) {
	v, missing := document(s)
	if missing == "" && !j.config.Path.IsZero() {
		var err error
		if v, missing, err = selectOne(s, j.config.Path); err != nil {
			return trial.Mark{}, err
		}
	}
	if missing != "" {
		return boolean(false, "", s.Result.Response, missing), nil
	}
	if err := j.config.Schema.Validate(v); err != nil {
		return boolean(false, "", jsonvalue.Compact(v), "the output does not fit the schema: "+err.Error()), nil
	}
	return boolean(true, "", jsonvalue.Compact(v), "the output fits the schema"), nil
}
