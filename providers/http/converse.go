package http

import (
	"encoding/json"
	"net/url"
	"slices"
	"strings"

	"github.com/pexctl/pex/engine/jsontemplate"
	"github.com/pexctl/pex/engine/model"
	"github.com/pexctl/pex/providers/modelhttp"
)

// converse is bedrock/converse/claude: the Converse API with tools. It has no seed and no count of reasoning tokens.
// The schema goes into the system prompt, since only the newest models support the field. The first call of a reply
// carries the thinking before it, which a thinking model (options.extra_body) requires back.
type converse struct{}

func (converse) path(model string) string { return "/model/" + url.PathEscape(model) + "/converse" }

func (converse) traits() traits { return traits{toolCalls: true} }

func (converse) values(req *model.Request, _ bool, to map[string]any) {
	system, rest := modelhttp.SplitSystem(req.Messages)
	if len(system) > 0 {
		to["system"] = blocks(system)
	}
	llm, _ := to["model"].(string)
	to["messages"] = turns(rest, func(m model.Message) []any { return converseBlocks(m, llm) })
	if tools := converseTools(req, rest); len(tools) > 0 {
		to["tools"] = tools
	}
	if len(req.Tools) > 0 && !req.ParallelTools { // Claude's own field; Converse has none
		to["tool_choice"] = map[string]any{"type": "auto", "disable_parallel_tool_use": true}
	}
}

// blocks converts texts to content blocks.
func blocks(texts []string) []any {
	out := make([]any, 0, len(texts))
	for _, t := range texts {
		if strings.TrimSpace(t) != "" { // blank blocks are rejected
			out = append(out, map[string]any{"text": t})
		}
	}
	return out
}

// turns converts messages to alternating turns; adjacent messages of one party are
// merged.
func turns(messages []model.Message, write func(model.Message) []any) []any {
	var out []any
	var last map[string]any
	for _, m := range messages {
		role, content := "user", write(m)
		if m.Role == model.Assistant {
			role = "assistant"
		}
		if last != nil && last["role"] == role {
			last["content"] = append(last["content"].([]any), content...)
			continue
		}
		last = map[string]any{"role": role, "content": content}
		out = append(out, last)
	}
	return out
}

// empty replaces a missing text that the protocol requires.
const empty = "(empty)"

// opaqueThoughts is the data that a call carries of its reply. Only the same model can read it.
type opaqueThoughts struct {
	Of *thoughts `json:"converse_thoughts"`
}

type thoughts struct {
	Model  string            `json:"model"`
	Blocks []json.RawMessage `json:"blocks"`
}

// thoughtsBefore returns the blocks before a message's calls.
func thoughtsBefore(m model.Message, model string) []any {
	var t opaqueThoughts
	if len(m.Calls) == 0 || json.Unmarshal(m.Calls[0].Opaque, &t) != nil || t.Of == nil || t.Of.Model != model {
		return nil
	}
	out := make([]any, len(t.Of.Blocks))
	for i, b := range t.Of.Blocks {
		out[i] = b
	}
	return out
}

func converseBlocks(m model.Message, llm string) []any {
	text := m.Text.String()
	if m.Role == model.ToolRole {
		result := blocks([]string{text})
		if len(result) == 0 {
			result = blocks([]string{empty})
		}
		of := map[string]any{"toolUseId": m.CallID, "content": result}
		if m.IsError {
			of["status"] = "error"
		}
		return []any{map[string]any{"toolResult": of}}
	}
	out := append(thoughtsBefore(m, llm), blocks([]string{text})...)
	for _, c := range m.Calls {
		out = append(out, map[string]any{"toolUse": map[string]any{"toolUseId": c.ID, "name": c.Name, "input": modelhttp.Object(c.Args)}})
	}
	if len(out) == 0 {
		return blocks([]string{empty})
	}
	return out
}

// converseTools declares the tools. If the conversation has calls, their tools must be
// declared even if none may be called any more.
func converseTools(req *model.Request, messages []model.Message) []any {
	tools := req.Tools
	if len(tools) == 0 {
		for _, m := range messages {
			for _, c := range m.Calls {
				if !slices.ContainsFunc(tools, func(t model.ToolDef) bool { return t.Name == c.Name }) {
					tools = append(tools, model.ToolDef{Name: c.Name, Description: "Not available any more."})
				}
			}
		}
	}
	var out []any
	for _, t := range tools {
		input := t.Input
		if len(input) == 0 {
			input = json.RawMessage(`{"type":"object"}`)
		}
		spec := map[string]any{"name": t.Name, "inputSchema": map[string]any{"json": input}}
		if t.Description != "" {
			spec["description"] = t.Description
		}
		out = append(out, map[string]any{"toolSpec": spec})
	}
	return out
}

func (converse) body(values map[string]any) map[string]any {
	out, inference := map[string]any{}, map[string]any{}
	copyValues(out, values, "messages", "messages", "system", "system")
	copyValues(inference, values, "maxTokens", "max_output_tokens", "temperature", "temperature", "topP", "top_p", "stopSequences", "stop")
	if len(inference) > 0 {
		out["inferenceConfig"] = inference
	}
	if tools, ok := values["tools"]; ok {
		out["toolConfig"] = map[string]any{"tools": tools}
	}
	if choice, ok := values["tool_choice"]; ok {
		out["additionalModelRequestFields"] = map[string]any{"tool_choice": choice}
	}
	return out
}

// converseAnswer is a response of the API.
type converseAnswer struct {
	Output *struct {
		Message struct{ Content []json.RawMessage }
	}
	StopReason string
	Usage      json.RawMessage
}

type converseBlock struct {
	Text    string
	ToolUse *struct {
		ID    string `json:"toolUseId"`
		Name  string
		Input json.RawMessage
	}
	Reasoning *struct {
		Text     struct{ Text, Signature string } `json:"reasoningText"`
		Redacted string                           `json:"redactedContent"`
	} `json:"reasoningContent"`
	Cited *struct {
		Content []struct{ Text string }
	} `json:"citationsContent"`
}

func (converse) read(req *model.Request, body []byte) (*rawReply, error) {
	var a converseAnswer
	if err := json.Unmarshal(body, &a); err != nil || a.Output == nil {
		return nil, wrongProtocol("Converse", body)
	}
	out := &rawReply{usage: converseUsage(a.Usage)}
	before := thoughts{Model: req.Params.Model}
	for _, raw := range a.Output.Message.Content {
		var b converseBlock
		if err := json.Unmarshal(raw, &b); err != nil {
			return nil, wrongProtocol("Converse", body)
		}
		if r := b.Reasoning; r != nil && r.Text.Signature+r.Redacted != "" { // blocks without either are rejected
			before.Blocks = append(before.Blocks, raw)
		}
		b.add(out)
	}
	if len(out.calls) > 0 && len(before.Blocks) > 0 {
		out.calls[0].Opaque = json.RawMessage(jsontemplate.Text(opaqueThoughts{&before}))
	}
	var err error
	out.stop, err = converseStop(a.StopReason)
	return out, err
}

// add adds a block to a reply.
func (b *converseBlock) add(to *rawReply) {
	to.text += b.Text
	if b.Cited != nil {
		for _, c := range b.Cited.Content {
			to.text += c.Text
		}
	}
	if b.Reasoning != nil {
		to.reasoning += b.Reasoning.Text.Text
	}
	if b.ToolUse != nil {
		to.calls = append(to.calls, model.ToolCall{ID: b.ToolUse.ID, Name: b.ToolUse.Name, Args: b.ToolUse.Input})
	}
}

func converseStop(reason string) (model.StopReason, error) {
	switch reason {
	case "max_tokens", "model_context_window_exceeded":
		return model.MaxTokens, nil
	case "stop_sequence":
		return model.StopSequence, nil
	case "content_filtered":
		return model.ContentFiltered, nil
	case "guardrail_intervened":
		return model.Guardrail, nil
	case "refusal":
		return model.Refusal, nil
	case "malformed_model_output", "malformed_tool_use":
		return "", modelhttp.Bad("the model ended the reply with %s", reason)
	}
	return model.EndTurn, nil
}

// converseUsage returns the token counts. The API counts cached tokens in addition to the
// input; here they are part of it.
func converseUsage(raw json.RawMessage) model.Tokens {
	var u struct{ InputTokens, OutputTokens, CacheReadInputTokens, CacheWriteInputTokens int }
	if len(raw) == 0 || json.Unmarshal(raw, &u) != nil {
		return model.Tokens{}
	}
	return model.Tokens{
		Input: u.InputTokens + u.CacheReadInputTokens + u.CacheWriteInputTokens, Output: u.OutputTokens,
		Cached: u.CacheReadInputTokens, CacheWrite: u.CacheWriteInputTokens,
	}
}
