package anthropic

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/pexctl/pex/engine/component"
	"github.com/pexctl/pex/engine/model"
	"github.com/pexctl/pex/providers/modelhttp"
	"github.com/pexctl/pex/providers/modelhttp/schemasubset"
)

// The ways to request JSON that conforms to a schema.
const (
	nativeSchema = "json_schema"
	forcedTool   = "tool"
	noSchema     = "none"
)

// setFormat requests JSON that conforms to a schema, in the way that the model supports.
// It returns the instruction to add to the system prompt, or "".
func (m *chatModel) setFormat(p *prepared, t thinking) (instruction string, err error) {
	s := p.request.Schema
	if s == nil || m.config.StructuredOutput == noSchema {
		return "", nil
	}
	check := m.checkSchema(s.Schema)
	if !check.valid {
		return "", fmt.Errorf("reply schema %s is not valid JSON", s.Name)
	}
	switch m.config.StructuredOutput {
	case nativeSchema:
		if check.native != nil {
			p.body.OutputConfig = &outputConfig{Effort: m.config.Effort, Format: &outputFormat{Type: "json_schema", Schema: check.native}}
			return "", nil
		}
	case forcedTool: // cannot be combined with thinking, or with other tools
		if check.object && len(p.request.Tools) == 0 && !t.fixesSampling() && t.mode != "between_tools" {
			p.forceTool(modelhttp.SchemaName(s.Name), s.Schema)
			return "", nil
		}
	}
	return "Reply with one JSON value that fits this JSON Schema, and with nothing else: no words before or after it, no code fence.\n" + string(s.Schema), nil
}

// forceTool makes the model reply by calling a tool whose input has the schema.
func (p *prepared) forceTool(name string, schema json.RawMessage) {
	p.forced = name
	p.body.Tools = []toolParam{{Name: name, Description: "Takes your whole reply.", InputSchema: schema}}
	p.body.ToolChoice = &toolChoice{Type: "tool", Name: name, DisableParallelToolUse: true}
}

// schemaCheck is the result of checking a reply schema.
type schemaCheck struct {
	schema json.RawMessage
	valid  bool
	object bool            // the root's type is object
	native json.RawMessage // the schema in the subset that the API enforces; nil = not expressible
}

// checkSchema checks a reply schema. It caches the last one, since consecutive calls
// often have the same.
func (m *chatModel) checkSchema(schema json.RawMessage) *schemaCheck {
	if c := m.lastSchema.Load(); c != nil && bytes.Equal(c.schema, schema) {
		return c
	}
	c := &schemaCheck{schema: schema, valid: json.Valid(schema)}
	if c.valid {
		var root struct{ Type any }
		c.object = json.Unmarshal(schema, &root) == nil && root.Type == "object"
		c.native, _ = schemasubset.Schema(schema, maxComplexity)
	}
	m.lastSchema.Store(c)
	return c
}

// maxComplexity limits the schemas that the API enforces, see
// platform.claude.com/docs/en/build-with-claude/structured-outputs under "Schema
// complexity limits".
var maxComplexity = schemasubset.Limits{Optional: 24, Unions: 16}

var _ model.SchemaHolder = (*Config)(nil)

// UnenforcedKeywords implements model.SchemaHolder. It is unknown what a server at another
// base_url does with a schema.
func (c *Config) UnenforcedKeywords(s model.Settings, schema json.RawMessage) component.Faults {
	if c.StructuredOutput != nativeSchema || s.BaseURL != "" || !json.Valid(schema) {
		return nil
	}
	_, found := schemasubset.Schema(schema, maxComplexity)
	return found
}
