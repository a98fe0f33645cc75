package bedrock

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/service/bedrockruntime/types"
	"github.com/pexctl/pex/engine/model"
	"github.com/pexctl/pex/providers/modelhttp"
	"github.com/pexctl/pex/providers/modelhttp/schemasubset"
)

// replySchema requests JSON for the reply schema in a way that the model supports.
func (w *writer) replySchema() error {
	s := w.req.Schema
	if s == nil || w.config.StructuredOutput == formNone {
		return nil
	}
	if !json.Valid(s.Schema) {
		return fmt.Errorf("reply schema %s is not valid JSON", s.Name)
	}
	name := modelhttp.SchemaName(s.Name)
	method := w.config.StructuredOutput
	if method == formTool && !w.fixedBudget { // Claude cannot think when it must call a tool
		w.answerByTool(name, s.Schema)
		return nil
	}
	if method == formNative || method == formAuto && isRecentClaude(w.base) {
		if closed, faults := schemasubset.Schema(s.Schema, schemasubset.Limits{}); faults == nil {
			text := string(closed)
			w.output().TextFormat = &types.OutputFormat{
				Type: types.OutputFormatTypeJsonSchema,
				Structure: &types.OutputFormatStructureMemberJsonSchema{
					Value: types.JsonSchemaDefinition{Name: &name, Schema: &text},
				},
			}
			return nil
		}
	}
	w.in.System = append(w.in.System, &types.SystemContentBlockMemberText{Value: instruction(s)})
	return nil
}

// answerByTool makes the reply the arguments of a tool that the model must call. If the request has other tools, the
// model may call one of those first.
func (w *writer) answerByTool(name string, schema json.RawMessage) {
	if w.in.ToolConfig == nil {
		w.in.ToolConfig = &types.ToolConfiguration{}
	}
	w.answer = name
	c := w.in.ToolConfig
	c.Tools = append(c.Tools, tool(name, "Returns the answer.", schema))
	c.ToolChoice = &types.ToolChoiceMemberAny{}
	if len(w.req.Tools) == 0 {
		c.ToolChoice = &types.ToolChoiceMemberTool{Value: types.SpecificToolChoice{Name: &name}}
	}
}

// instruction returns a prompt that describes the form of the reply.
func instruction(s *model.ReplySchema) string {
	schema := s.Schema
	var b bytes.Buffer
	if json.Compact(&b, schema) == nil {
		schema = b.Bytes()
	}
	return "Reply with one JSON value and nothing else: no sentence before or after it, no code fence. It must be valid against the JSON Schema \"" + s.Name + "\":\n" + string(schema)
}
