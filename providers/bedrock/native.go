package bedrock

import (
	"encoding/json"

	"github.com/pexctl/pex/engine/component"
	"github.com/pexctl/pex/engine/model"
	"github.com/pexctl/pex/providers/call/narrow"
)

var _ model.SchemaHolder = (*Config)(nil)

// Unheld implements model.model.SchemaHolder. Models that are asked by a tool or in
// words are held to no schema.
func (c *Config) Unheld(s model.Settings, schema json.RawMessage) component.Faults {
	if c.StructuredOutput != formNative && (c.StructuredOutput != formAuto || !recent(c.base(s.Model))) || !json.Valid(schema) {
		return nil
	}
	_, found := narrow.Schema(schema, narrow.Limits{})
	return found
}
