package anthropic

import (
	"encoding/json"

	"github.com/pexctl/pex/engine/component"
	"github.com/pexctl/pex/engine/model"
	"github.com/pexctl/pex/providers/call/narrow"
)

// most is what the API takes of a schema that it holds a model to, as
// platform.claude.com/docs/en/build-with-claude/structured-outputs has it under
// "Schema complexity limits".
var most = narrow.Limits{Optional: 24, Unions: 16}

var _ model.SchemaHolder = (*Config)(nil)

// Unheld implements model.model.SchemaHolder. What a server at another address does
// with a schema is not known.
func (c *Config) Unheld(s model.Settings, schema json.RawMessage) component.Faults {
	if c.StructuredOutput != nativeSchema || s.BaseURL != "" || !json.Valid(schema) {
		return nil
	}
	_, found := narrow.Schema(schema, most)
	return found
}
