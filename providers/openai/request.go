package openai

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"

	"github.com/pexctl/pex/engine/model"
	"github.com/pexctl/pex/providers/modelhttp"
)

// body returns the JSON body of a request.
func (m *chatModel) body(req *model.Request, streamed bool) ([]byte, error) {
	r, err := m.chatRequest(req, streamed)
	if err != nil {
		return nil, err
	}
	return modelhttp.EncodeBody(r, m.config.ExtraBody)
}

// chatRequest converts a request to the protocol.
func (m *chatModel) chatRequest(req *model.Request, streamed bool) (*chatRequest, error) {
	out := m.sampling(req.Params)
	out.Stream = streamed
	if streamed && m.config.StreamUsage {
		out.StreamOptions = &streamOptions{IncludeUsage: true}
	}
	out.Messages = make([]chatMessage, len(req.Messages))
	for i := range req.Messages {
		out.Messages[i] = message(&req.Messages[i])
	}
	if err := out.addTools(req); err != nil {
		return nil, err
	}
	if err := m.setFormat(out, req.Schema); err != nil {
		return nil, err
	}
	if m.dialect.adapt != nil {
		m.dialect.adapt(out)
	}
	return out, nil
}

// sampling returns a request with the parameters of a call.
func (m *chatModel) sampling(p model.Params) *chatRequest {
	out := &chatRequest{
		Model:           cmp.Or(m.dialect.model, p.Model, m.name),
		Temperature:     p.Temperature,
		TopP:            p.TopP,
		Seed:            p.Seed,
		Stop:            p.Stop,
		ReasoningEffort: m.config.ReasoningEffort,
	}
	if limit := max(p.MaxOutputTokens, 0); m.dialect.legacy {
		out.MaxTokens = limit
	} else {
		out.MaxCompletionTokens = limit
	}
	return out
}

// message converts a message. The text and the calls of the model share one message.
func message(m *model.Message) chatMessage {
	text := m.Text.String()
	out := chatMessage{Role: m.Role, Content: &text}
	switch m.Role {
	case model.ToolRole:
		out.ToolCallID = &m.CallID
	case model.Assistant:
		if text == "" && len(m.Calls) > 0 {
			out.Content = nil
		}
		for _, c := range m.Calls {
			out.ToolCalls = append(out.ToolCalls, requestToolCall{
				ID: c.ID, Type: "function", Function: functionCall{Name: c.Name, Arguments: string(modelhttp.Object(c.Args))},
			})
		}
	case model.System:
	default:
		out.Role = model.User
		if len(m.Attachments) > 0 {
			out.Content = parts(m.Attachments, text)
		}
	}
	return out
}

func (r *chatRequest) addTools(req *model.Request) error {
	for _, t := range req.Tools {
		f := functionDefinition{Name: t.Name, Description: t.Description}
		switch schema := bytes.TrimSpace(t.Input); {
		case len(schema) == 0 || string(schema) == "null":
		case schema[0] != '{' || !json.Valid(schema):
			return fmt.Errorf("input schema of tool %s is not a JSON object", t.Name)
		default:
			f.Parameters = schema
		}
		r.Tools = append(r.Tools, chatTool{Type: "function", Function: f})
	}
	// Several calls in one reply are the default of every server, and some reject true.
	if len(r.Tools) > 0 && !req.ParallelTools {
		r.ParallelToolCalls = new(bool)
	}
	return nil
}

// setFormat requests JSON that conforms to a schema, in the way the server supports.
func (m *chatModel) setFormat(r *chatRequest, s *model.ReplySchema) error {
	if s == nil {
		return nil
	}
	switch m.config.StructuredOutput {
	case "none":
	case "json_object":
		r.ResponseFormat = &responseFormat{Type: "json_object"}
	default:
		check := m.checkSchema(s.Schema)
		if !check.valid {
			return fmt.Errorf("reply schema %s is not valid JSON", s.Name)
		}
		r.ResponseFormat = &responseFormat{Type: nativeSchema, JSONSchema: &jsonSchemaFormat{
			Name: modelhttp.SchemaName(s.Name), Schema: s.Schema, Strict: check.strict,
		}}
	}
	return nil
}

// schemaCheck is the result of checking a reply schema.
type schemaCheck struct {
	schema        json.RawMessage
	valid, strict bool
}

// checkSchema checks a reply schema. It caches the last one, since consecutive calls
// often have the same.
func (m *chatModel) checkSchema(schema json.RawMessage) *schemaCheck {
	if c := m.lastSchema.Load(); c != nil && bytes.Equal(c.schema, schema) {
		return c
	}
	c := &schemaCheck{schema, json.Valid(schema), m.dialect.strict(schema)}
	m.lastSchema.Store(c)
	return c
}
