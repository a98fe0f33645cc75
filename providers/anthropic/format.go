package anthropic

import (
	"bytes"
	"encoding/json"
	"fmt"

	sdk "github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/packages/param"
	"github.com/pexctl/pex/engine/component"
	"github.com/pexctl/pex/engine/model"
	"github.com/pexctl/pex/providers/modelhttp"
	"github.com/pexctl/pex/providers/modelhttp/schemasubset"
)

// The ways to ask for JSON of a schema.
const (
	nativeSchema = "json_schema"
	forcedTool   = "tool"
	noSchema     = "none"
)

// format asks for JSON of a schema, in the way that the model knows. order is
// what the system prompt has to say of it, if anything.
func (m *chatModel) format(a *ask, t thinking) (order string, err error) {
	s := a.request.Schema
	if s == nil || m.config.StructuredOutput == noSchema {
		return "", nil
	}
	look := m.look(s.Schema)
	if !look.valid {
		return "", fmt.Errorf("reply schema %s is no JSON", s.Name)
	}
	switch m.config.StructuredOutput {
	case nativeSchema:
		if look.native != nil {
			body := append(append([]byte(`{"type":"json_schema","schema":`), look.native...), '}')
			a.params.OutputConfig.Format = param.Override[sdk.JSONOutputFormatParam](json.RawMessage(body))
			return "", nil
		}
	case forcedTool: // a model that thinks cannot be forced, nor one that has tools to choose from
		if look.object && len(a.request.Tools) == 0 && !t.samples() && t.mode != "between_tools" {
			a.force(modelhttp.SchemaName(s.Name), s.Schema)
			return "", nil
		}
	}
	return "Reply with one JSON value that fits this JSON Schema, and with nothing else: no words before or after it, no code fence.\n" + string(s.Schema), nil
}

// force makes the model reply by calling a tool whose input has the schema.
func (a *ask) force(name string, schema json.RawMessage) {
	a.forced = name
	a.params.Tools = []sdk.ToolUnionParam{{OfTool: &sdk.ToolParam{
		Name: name, Description: param.NewOpt("Takes your whole reply."), InputSchema: param.Override[sdk.ToolInputSchemaParam](schema),
	}}}
	a.params.ToolChoice.OfTool = &sdk.ToolChoiceToolParam{Name: name, DisableParallelToolUse: param.NewOpt(true)}
}

// looked is a reply schema that was looked at: many calls ask for the same.
type looked struct {
	schema json.RawMessage
	valid  bool
	object bool            // it says that a reply is an object
	native json.RawMessage // the schema as the API can hold a model to it; nil = it cannot
}

func (m *chatModel) look(schema json.RawMessage) *looked {
	if l := m.looked.Load(); l != nil && bytes.Equal(l.schema, schema) {
		return l
	}
	l := &looked{schema: schema, valid: json.Valid(schema)}
	if l.valid {
		var top struct{ Type any }
		l.object = json.Unmarshal(schema, &top) == nil && top.Type == "object"
		l.native, _ = schemasubset.Schema(schema, most)
	}
	m.looked.Store(l)
	return l
}

// most is what the API takes of a schema that it holds a model to, as
// platform.claude.com/docs/en/build-with-claude/structured-outputs has it under
// "Schema complexity limits".
var most = schemasubset.Limits{Optional: 24, Unions: 16}

var _ model.SchemaHolder = (*Config)(nil)

// UnenforcedKeywords implements model.SchemaHolder. What a server at another address does
// with a schema is not known.
func (c *Config) UnenforcedKeywords(s model.Settings, schema json.RawMessage) component.Faults {
	if c.StructuredOutput != nativeSchema || s.BaseURL != "" || !json.Valid(schema) {
		return nil
	}
	_, found := schemasubset.Schema(schema, most)
	return found
}
