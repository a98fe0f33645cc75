package openai

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"

	sdk "github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/packages/param"
	"github.com/openai/openai-go/v3/shared"
	"github.com/pexctl/pex/engine/model"
	"github.com/pexctl/pex/providers/modelhttp"
)

// params writes a request in the SDK's terms. What is unset is not sent.
func (m *chatModel) params(req *model.Request, streamed bool) (sdk.ChatCompletionNewParams, error) {
	out := m.sampling(req.Params)
	out.ReasoningEffort = shared.ReasoningEffort(m.config.ReasoningEffort)
	if streamed && m.config.StreamUsage {
		out.StreamOptions.IncludeUsage = param.NewOpt(true)
	}
	for _, msg := range req.Messages {
		out.Messages = append(out.Messages, message(msg))
	}
	if err := tools(&out, req); err != nil {
		return out, err
	}
	if err := m.format(&out, req.Schema); err != nil {
		return out, err
	}
	out.SetExtraFields(m.config.ExtraBody)
	if m.dialect.adapt != nil {
		m.dialect.adapt(&out)
	}
	return out, nil
}

// sampling writes the parameters of a call. Temperature 0 is a value, not an absence.
func (m *chatModel) sampling(p model.Params) sdk.ChatCompletionNewParams {
	out := sdk.ChatCompletionNewParams{
		Model:       cmp.Or(m.dialect.model, p.Model, m.name),
		Temperature: optional(p.Temperature),
		TopP:        optional(p.TopP),
		Seed:        optional(p.Seed),
		Stop:        sdk.ChatCompletionNewParamsStopUnion{OfStringArray: p.Stop},
	}
	if n := int64(p.MaxOutputTokens); n > 0 {
		if m.dialect.legacy {
			out.MaxTokens = param.NewOpt(n)
		} else {
			out.MaxCompletionTokens = param.NewOpt(n)
		}
	}
	return out
}

func optional[T float64 | int64](v *T) param.Opt[T] {
	if v == nil {
		return param.Opt[T]{}
	}
	return param.NewOpt(*v)
}

func message(m model.Message) sdk.ChatCompletionMessageParamUnion {
	text := m.Text.String()
	switch m.Role {
	case model.System:
		return sdk.SystemMessage(text)
	case model.ToolRole:
		return sdk.ToolMessage(text, m.CallID)
	case model.Assistant:
		return assistant(m, text)
	case model.User:
	}
	return sdk.UserMessage(text)
}

// assistant writes what the model said before. Its calls and its text stand in one message.
func assistant(m model.Message, text string) sdk.ChatCompletionMessageParamUnion {
	out := &sdk.ChatCompletionAssistantMessageParam{}
	if text != "" || len(m.Calls) == 0 {
		out.Content.OfString = param.NewOpt(text)
	}
	for _, c := range m.Calls {
		out.ToolCalls = append(out.ToolCalls, sdk.ChatCompletionMessageToolCallUnionParam{
			OfFunction: &sdk.ChatCompletionMessageFunctionToolCallParam{
				ID:       c.ID,
				Function: sdk.ChatCompletionMessageFunctionToolCallFunctionParam{Name: c.Name, Arguments: object(c.Args)},
			},
		})
	}
	return sdk.ChatCompletionMessageParamUnion{OfAssistant: out}
}

// object is a call's arguments as a JSON object. Servers that read a
// conversation's calls refuse anything else, so what is none is shown to the
// model as the text it wrote.
func object(args json.RawMessage) string {
	var fields map[string]json.RawMessage
	if len(args) == 0 {
		return "{}"
	}
	if json.Unmarshal(args, &fields) == nil && fields != nil {
		return string(args)
	}
	text, err := json.Marshal(map[string]string{"not_an_object": string(args)})
	if err != nil {
		return "{}"
	}
	return string(text)
}

func tools(out *sdk.ChatCompletionNewParams, req *model.Request) error {
	for _, t := range req.Tools {
		f := shared.FunctionDefinitionParam{Name: t.Name}
		if t.Description != "" {
			f.Description = param.NewOpt(t.Description)
		}
		if len(t.Input) > 0 {
			if err := json.Unmarshal(t.Input, &f.Parameters); err != nil {
				return fmt.Errorf("input schema of tool %s: %w", t.Name, err)
			}
		}
		out.Tools = append(out.Tools, sdk.ChatCompletionFunctionTool(f))
	}
	// Several calls in one reply are every server's default, and some refuse the word.
	if len(out.Tools) > 0 && !req.ParallelTools {
		out.ParallelToolCalls = param.NewOpt(false)
	}
	return nil
}

// format asks for JSON of a schema, in the way the server knows.
func (m *chatModel) format(out *sdk.ChatCompletionNewParams, s *model.ReplySchema) error {
	if s == nil {
		return nil
	}
	switch m.config.StructuredOutput {
	case "none":
	case "json_object":
		out.ResponseFormat.OfJSONObject = &shared.ResponseFormatJSONObjectParam{}
	default:
		look := m.look(s.Schema)
		if !look.valid {
			return fmt.Errorf("reply schema %s is no JSON", s.Name)
		}
		f := shared.ResponseFormatJSONSchemaJSONSchemaParam{Name: modelhttp.SchemaName(s.Name), Schema: s.Schema}
		if look.strict {
			f.Strict = param.NewOpt(true)
		}
		out.ResponseFormat.OfJSONSchema = &shared.ResponseFormatJSONSchemaParam{JSONSchema: f}
	}
	return nil
}

// looked is a reply schema that was looked at: many calls ask for the same.
type looked struct {
	schema        json.RawMessage
	valid, strict bool
}

func (m *chatModel) look(schema json.RawMessage) *looked {
	if l := m.looked.Load(); l != nil && bytes.Equal(l.schema, schema) {
		return l
	}
	l := &looked{schema, json.Valid(schema), m.dialect.strict(schema)}
	m.looked.Store(l)
	return l
}
