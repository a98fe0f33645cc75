package http

import (
	"encoding/json"
	"strings"

	"github.com/pexctl/pex/engine/model"
	"github.com/pexctl/pex/providers/modelhttp"
)

// chat is openai/v1/chat/completions. OpenAI's own server has another name for the output limit than many compatible
// servers.
type chat struct{ openai bool }

func (chat) path(string) string { return "/chat/completions" }

func (chat) traits() traits { return traits{toolCalls: true, schema: true} }

func (chat) values(req *model.Request, apart bool, to map[string]any) {
	system, rest := modelhttp.SplitSystem(req.Messages)
	if len(system) > 0 {
		to["system"] = strings.Join(system, "\n\n")
	}
	messages := req.Messages
	if apart {
		messages = rest
	}
	all := make([]any, 0, len(messages))
	for _, m := range messages {
		all = append(all, chatMessage(m))
	}
	to["messages"] = all
	var tools []any
	for _, t := range req.Tools {
		f := map[string]any{"name": t.Name}
		describe(f, t, "description", "parameters")
		tools = append(tools, map[string]any{"type": "function", "function": f})
	}
	if tools != nil {
		to["tools"] = tools
	}
	if req.Schema != nil {
		to["response_format"] = map[string]any{
			"type": "json_schema", "json_schema": map[string]any{"name": modelhttp.SchemaName(req.Schema.Name), "schema": req.Schema.Schema},
		}
	}
}

// describe adds description and schema to a tool's declaration.
func describe(to map[string]any, t model.ToolDef, description, input string) {
	if t.Description != "" {
		to[description] = t.Description
	}
	if len(t.Input) > 0 {
		to[input] = t.Input
	}
}

func chatMessage(m model.Message) map[string]any {
	text := m.Text.String()
	out := map[string]any{"role": string(m.Role)}
	switch {
	case m.Role == model.ToolRole:
		out["content"], out["tool_call_id"] = text, m.CallID
		return out
	case text != "" || len(m.Calls) == 0:
		out["content"] = text
	}
	var calls []any
	for _, c := range m.Calls {
		calls = append(calls, map[string]any{
			"id": c.ID, "type": "function", "function": map[string]any{"name": c.Name, "arguments": string(modelhttp.Object(c.Args))},
		})
	}
	if calls != nil {
		out["tool_calls"] = calls
	}
	return out
}

func (c chat) body(values map[string]any) map[string]any {
	limit := "max_tokens"
	if c.openai {
		limit = "max_completion_tokens"
	}
	out := map[string]any{}
	copyValues(out, values, "model", "model", "messages", "messages", "tools", "tools", "parallel_tool_calls", "parallel_tool_calls",
		"temperature", "temperature", "top_p", "top_p", "seed", "seed", "stop", "stop", limit, "max_output_tokens",
		"response_format", "response_format")
	return out
}

// chatAnswer is a response of the protocol.
type chatAnswer struct {
	ID, Model string
	Choices   []struct {
		Message struct {
			Content   json.RawMessage
			Refusal   string
			Reasoning string `json:"reasoning_content"`
			ToolCalls []struct {
				ID       string
				Function struct {
					Name      string
					Arguments json.RawMessage
				}
			} `json:"tool_calls"`
		}
		FinishReason string `json:"finish_reason"`
	}
	Usage json.RawMessage
	Error json.RawMessage
}

// chatUsage returns the token counts of a response.
func chatUsage(raw json.RawMessage) model.Tokens {
	var u struct {
		Input   int `json:"prompt_tokens"`
		Output  int `json:"completion_tokens"`
		OfInput struct {
			Cached int `json:"cached_tokens"`
		} `json:"prompt_tokens_details"`
		OfOutput struct {
			Reasoning int `json:"reasoning_tokens"`
		} `json:"completion_tokens_details"`
	}
	if len(raw) == 0 || json.Unmarshal(raw, &u) != nil {
		return model.Tokens{}
	}
	return model.Tokens{Input: u.Input, Output: u.Output, Cached: u.OfInput.Cached, Reasoning: u.OfOutput.Reasoning}
}

func (chat) read(_ *model.Request, body []byte) (*rawReply, error) {
	var a chatAnswer
	if err := json.Unmarshal(body, &a); err != nil {
		return nil, wrongProtocol("chat completions", body)
	}
	if len(a.Error) > 0 && string(a.Error) != "null" {
		return nil, errorWords.ParseError(body)
	}
	if len(a.Choices) == 0 {
		return nil, modelhttp.Bad("the endpoint's reply has no choices: %s", modelhttp.ErrorBody(body))
	}
	choice := a.Choices[0]
	text, err := chatText(choice.Message.Content)
	if err != nil {
		return nil, err
	}
	out := &rawReply{
		id: a.ID, model: a.Model, text: text, usage: chatUsage(a.Usage),
		refusal: choice.Message.Refusal, reasoning: choice.Message.Reasoning,
	}
	for _, c := range choice.Message.ToolCalls {
		out.calls = append(out.calls, model.ToolCall{ID: c.ID, Name: c.Function.Name, Args: arguments(c.Function.Arguments)})
	}
	out.stop, err = chatStop(choice.FinishReason)
	return out, err
}

// chatText returns a message's text: a string, or the text parts of a list.
func chatText(content json.RawMessage) (string, error) {
	if len(content) == 0 {
		return "", nil
	}
	var v any
	if err := json.Unmarshal(content, &v); err != nil {
		return "", modelhttp.Bad("the message's content cannot be read: %s", err)
	}
	switch v.(type) {
	case nil, string, []any:
		return contentText(v), nil
	}
	return "", modelhttp.Bad("the message's content is neither a string nor a list of parts: %.100s", content)
}

// arguments returns the arguments of a call: JSON in a string or, from some servers, JSON
// itself.
func arguments(raw json.RawMessage) json.RawMessage {
	var s string
	if json.Unmarshal(raw, &s) == nil {
		return json.RawMessage(s)
	}
	return raw
}

func chatStop(reason string) (model.StopReason, error) {
	switch reason {
	case "length", "max_tokens", "model_length":
		return model.MaxTokens, nil
	case "content_filter":
		return model.ContentFiltered, nil
	case "error":
		return "", &model.Error{Kind: model.ServerError, Message: "the endpoint ended the reply with error"}
	}
	return model.EndTurn, nil
}
