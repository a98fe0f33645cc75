package bedrock_test

import (
	"encoding/json"
	"strings"

	"github.com/pexctl/pex/engine/enginetest"
	"github.com/pexctl/pex/engine/model"
)

// body is the body of a request.
type body struct {
	Messages        []message
	System          []struct{ Text string }
	InferenceConfig struct {
		MaxTokens         int
		Temperature, TopP *float64
		StopSequences     []string
	}
	ToolConfig *struct {
		Tools []struct {
			ToolSpec struct {
				Name, Description string
				InputSchema       struct{ JSON json.RawMessage }
			}
		}
		ToolChoice *struct {
			Tool *struct{ Name string }
			Any  *struct{}
		}
	}
	OutputConfig *struct {
		TextFormat *struct {
			Structure struct {
				JSONSchema struct{ Name, Schema string }
			}
		}
	}
	AdditionalModelRequestFields struct {
		ToolChoice struct {
			DisableParallelToolUse bool `json:"disable_parallel_tool_use"`
		} `json:"tool_choice"`
	}
}

type message struct {
	Role    string  `json:"role"`
	Content []block `json:"content"`
}

type block struct {
	Text       *string     `json:"text,omitempty"`
	ToolUse    *toolUse    `json:"toolUse,omitempty"`
	ToolResult *toolResult `json:"toolResult,omitempty"`
}

type toolUse struct {
	ToolUseID string          `json:"toolUseId"`
	Name      string          `json:"name"`
	Input     json.RawMessage `json:"input"`
}

type toolResult struct {
	ToolUseID string  `json:"toolUseId"`
	Content   []block `json:"content"`
	Status    string  `json:"status"`
}

// received converts a request to the engine's terms.
func (b body) received(llm string, streamed bool) enginetest.ReceivedRequest {
	out := enginetest.ReceivedRequest{Streamed: streamed}
	out.Params = model.Params{
		Model: llm, Temperature: b.InferenceConfig.Temperature, TopP: b.InferenceConfig.TopP,
		MaxOutputTokens: b.InferenceConfig.MaxTokens, Stop: b.InferenceConfig.StopSequences,
	}
	for _, s := range b.System {
		if name, schema, ok := instructed(s.Text); ok {
			out.Schema = &model.ReplySchema{Name: name, Schema: schema}
			continue
		}
		out.Messages = append(out.Messages, model.Message{Role: model.System, Text: model.Text{s.Text}})
	}
	for _, m := range b.Messages {
		out.Messages = append(out.Messages, m.messages()...)
	}
	b.tools(&out)
	if b.OutputConfig != nil && b.OutputConfig.TextFormat != nil {
		s := b.OutputConfig.TextFormat.Structure.JSONSchema
		out.Schema = &model.ReplySchema{Name: s.Name, Schema: json.RawMessage(s.Schema)}
	}
	return out
}

// tools adds the tools. A tool that must be called is the schema.
func (b body) tools(out *enginetest.ReceivedRequest) {
	if b.ToolConfig == nil {
		return
	}
	for _, t := range b.ToolConfig.Tools {
		spec := t.ToolSpec
		if c := b.ToolConfig.ToolChoice; c != nil && c.Tool != nil && c.Tool.Name == spec.Name {
			out.Schema = &model.ReplySchema{Name: spec.Name, Schema: spec.InputSchema.JSON}
			continue
		}
		out.Tools = append(out.Tools, model.ToolDef{Name: spec.Name, Description: spec.Description, Input: spec.InputSchema.JSON})
	}
	out.ParallelTools = len(out.Tools) > 0 && !b.AdditionalModelRequestFields.ToolChoice.DisableParallelToolUse
}

func instructed(text string) (name string, schema json.RawMessage, ok bool) {
	_, rest, ok := strings.Cut(text, `JSON Schema "`)
	if !ok {
		return "", nil, false
	}
	name, rest, ok = strings.Cut(rest, "\":\n")
	return name, json.RawMessage(rest), ok
}

// messages converts a message to the engine's messages that it was created from.
func (m message) messages() []model.Message {
	var out []model.Message
	if m.Role == "assistant" {
		out = []model.Message{{Role: model.Assistant}}
	}
	for _, b := range m.Content {
		switch {
		case b.ToolUse != nil:
			u := b.ToolUse
			out[0].Calls = append(out[0].Calls, model.ToolCall{ID: u.ToolUseID, Name: u.Name, Args: u.Input})
		case b.ToolResult != nil:
			out = append(out, model.Message{Role: model.ToolRole, CallID: b.ToolResult.ToolUseID, Text: model.Text{*b.ToolResult.Content[0].Text}})
		case m.Role == "assistant":
			out[0].Text = append(out[0].Text, *b.Text)
		default:
			out = append(out, model.Message{Role: model.User, Text: model.Text{*b.Text}})
		}
	}
	return out
}
