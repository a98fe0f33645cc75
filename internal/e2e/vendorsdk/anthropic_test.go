package vendorsdk_test

import (
	"encoding/json"
	"testing"

	sdk "github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/option"
	"github.com/anthropics/anthropic-sdk-go/packages/param"

	"github.com/pexctl/pex/engine/model"
	"github.com/pexctl/pex/internal/e2e"
	"github.com/pexctl/pex/providers/anthropic"
	"github.com/pexctl/pex/providers/modelhttp"
)

const messageReply = `{"id": "m", "type": "message", "role": "assistant", "content": [{"type": "text", "text": "x"}], "stop_reason": "end_turn", "usage": {"input_tokens": 3, "output_tokens": 1}}`

func anthropicModel(base string, change func(*anthropic.Config)) (model.Model, error) {
	c := anthropic.Anthropic.Config().(*anthropic.Config)
	change(c)
	return anthropic.Build(c, model.Settings{Model: "claude-1", BaseURL: base, APIKey: "sk-1234"})
}

func TestMessageRequestsAreThoseOfTheSDK(t *testing.T) {
	for how, change := range map[string]func(*anthropic.Config){
		"defaults": func(*anthropic.Config) {},
		"budget":   func(c *anthropic.Config) { c.ThinkingBudget = 1024 },
		"adaptive": func(c *anthropic.Config) { c.Thinking, c.Effort = "adaptive", "low" },
		"disabled": func(c *anthropic.Config) { c.Thinking = "disabled" },
		"cache":    func(c *anthropic.Config) { c.Cache, c.CacheTTL = true, "1h" },
		"tool":     func(c *anthropic.Config) { c.StructuredOutput = "tool" },
	} {
		for name, req := range e2e.Requests() {
			if name == "other schema" || how == "budget" && name == "sampling" {
				continue // the provider sends an instruction instead, or refuses
			}
			for _, streamed := range []bool{false, true} {
				t.Run(how+"/"+name, func(t *testing.T) {
					same(t, messageReply, func(base string) error {
						c := sdk.NewClient(option.WithBaseURL(base+"/"), option.WithAPIKey("sk-1234"), option.WithMaxRetries(0))
						p := messageParams(t, req, how)
						if !streamed {
							_, err := c.Messages.New(t.Context(), p)
							return err
						}
						events := c.Messages.NewStreaming(t.Context(), p)
						for events.Next() {
							t.Log(events.Current())
						}
						return events.Err()
					}, func(base string) error {
						m, err := anthropicModel(base, change)
						if err == nil {
							_, err = m.Generate(t.Context(), req, streaming(streamed))
						}
						return err
					})
				})
			}
		}
	}
}

// messageParams writes a request in the SDK's terms.
func messageParams(t *testing.T, req *model.Request, how string) sdk.MessageNewParams {
	t.Helper()
	p := sdk.MessageNewParams{Model: "claude-1", MaxTokens: 16384, StopSequences: req.Params.Stop}
	if n := req.Params.MaxOutputTokens; n > 0 {
		p.MaxTokens = int64(n)
	}
	if v := req.Params.Temperature; v != nil && how != "adaptive" {
		p.Temperature = param.NewOpt(*v)
	}
	if v := req.Params.TopP; v != nil && how != "adaptive" {
		p.TopP = param.NewOpt(*v)
	}
	conversation(&p, req.Messages)
	for _, tool := range req.Tools {
		input := fields(t, tool.Input)
		schema := sdk.ToolInputSchemaParam{Type: "object", Properties: input["properties"]}
		if input != nil {
			schema.Required = []string{"a"}
			schema.ExtraFields = map[string]any{"additionalProperties": false}
		}
		out := &sdk.ToolParam{Name: tool.Name, InputSchema: schema}
		if tool.Description != "" {
			out.Description = param.NewOpt(tool.Description)
		}
		p.Tools = append(p.Tools, sdk.ToolUnionParam{OfTool: out})
	}
	if len(req.Tools) > 0 && !req.ParallelTools {
		p.ToolChoice.OfAuto = &sdk.ToolChoiceAutoParam{DisableParallelToolUse: param.NewOpt(true)}
	}
	switch s := req.Schema; {
	case s == nil:
	case how == "tool":
		name, schema := modelhttp.SchemaName(s.Name), fields(t, s.Schema)
		p.Tools = []sdk.ToolUnionParam{{OfTool: &sdk.ToolParam{
			Name: name, Description: param.NewOpt("Takes your whole reply."), InputSchema: sdk.ToolInputSchemaParam{
				Properties: schema["properties"], Required: []string{"a"}, ExtraFields: map[string]any{"additionalProperties": false},
			},
		}}}
		p.ToolChoice.OfTool = &sdk.ToolChoiceToolParam{Name: name, DisableParallelToolUse: param.NewOpt(true)}
	default:
		p.OutputConfig.Format = sdk.JSONOutputFormatParam{Schema: fields(t, s.Schema)}
	}
	options(&p, how, req.Messages[len(req.Messages)-1].Role == model.ToolRole)
	return p
}

// options writes the provider's options. In a tool loop without its thinking, the provider
// leaves the budget out.
func options(p *sdk.MessageNewParams, how string, inLoop bool) {
	switch how {
	case "budget":
		p.MaxTokens += 1024
		if !inLoop {
			p.Thinking = sdk.ThinkingConfigParamOfEnabled(1024)
		}
	case "adaptive":
		p.Thinking.OfAdaptive = &sdk.ThinkingConfigAdaptiveParam{}
		p.OutputConfig.Effort = sdk.OutputConfigEffortLow
	case "disabled":
		off := sdk.NewThinkingConfigDisabledParam()
		p.Thinking.OfDisabled = &off
	case "cache":
		mark := sdk.CacheControlEphemeralParam{TTL: sdk.CacheControlEphemeralTTLTTL1h}
		if n := len(p.System); n > 0 {
			p.System[n-1].CacheControl = mark
		}
		if n := len(p.Tools); n > 0 {
			p.Tools[n-1].OfTool.CacheControl = mark
			last := p.Messages[len(p.Messages)-1].Content
			last[len(last)-1].OfToolResult.CacheControl = mark
		}
	}
}

// conversation writes the messages of a request. Those of one side that follow each other
// are one message.
func conversation(p *sdk.MessageNewParams, messages []model.Message) {
	add := func(role sdk.MessageParamRole, blocks ...sdk.ContentBlockParamUnion) {
		if n := len(p.Messages); n > 0 && p.Messages[n-1].Role == role {
			p.Messages[n-1].Content = append(p.Messages[n-1].Content, blocks...)
		} else if len(blocks) > 0 {
			p.Messages = append(p.Messages, sdk.MessageParam{Role: role, Content: blocks})
		}
	}
	for _, m := range messages {
		text := m.Text.String()
		switch m.Role {
		case model.System:
			p.System = append(p.System, sdk.TextBlockParam{Text: text})
		case model.User:
			add(sdk.MessageParamRoleUser, sdk.NewTextBlock(text))
		case model.ToolRole:
			out := &sdk.ToolResultBlockParam{ToolUseID: m.CallID}
			if m.IsError {
				out.IsError = param.NewOpt(true)
			}
			if text != "" {
				out.Content = []sdk.ToolResultBlockParamContentUnion{{OfText: &sdk.TextBlockParam{Text: text}}}
			}
			add(sdk.MessageParamRoleUser, sdk.ContentBlockParamUnion{OfToolResult: out})
		case model.Assistant:
			var blocks []sdk.ContentBlockParamUnion
			if text != "" {
				blocks = append(blocks, sdk.NewTextBlock(text))
			}
			for _, c := range m.Calls {
				blocks = append(blocks, sdk.NewToolUseBlock(c.ID, modelhttp.Object(c.Args), c.Name))
			}
			add(sdk.MessageParamRoleAssistant, blocks...)
		}
	}
}

// Both read the same from a reply, and signed thinking goes back as the SDK sends it.
func TestMessagesAreReadAsByTheSDK(t *testing.T) {
	const body = `{"id": "m", "type": "message", "role": "assistant", "model": "claude-1", "content": [
		{"type": "thinking", "thinking": "", "signature": "c2ln"}, {"type": "redacted_thinking", "data": "ZGF0YQ=="}, {"type": "text", "text": "I look."},
		{"type": "tool_use", "id": "toolu_1", "name": "find", "input": {"n": 12345678901234567891}}], "stop_reason": "tool_use",
		"usage": {"input_tokens": 4, "cache_read_input_tokens": 1000, "cache_creation_input_tokens": 30, "output_tokens": 9}}`
	var want sdk.Message
	if err := json.Unmarshal([]byte(body), &want); err != nil {
		t.Fatal(err)
	}
	req := *e2e.Requests()["minimal"]
	req.Tools = []model.ToolDef{{Name: "find"}}
	var got *model.Reply
	sentBody(t, body, func(base string) error {
		m, err := anthropicModel(base, func(*anthropic.Config) {})
		if err == nil {
			got, err = m.Generate(t.Context(), &req, nil)
		}
		return err
	})
	u := want.Usage
	usage := model.Tokens{
		Input: int(u.InputTokens + u.CacheReadInputTokens + u.CacheCreationInputTokens), Output: int(u.OutputTokens),
		Cached: int(u.CacheReadInputTokens), CacheWrite: int(u.CacheCreationInputTokens),
	}
	if call := want.Content[3]; got.ID != want.ID || got.Model != want.Model || got.Text != want.Content[2].Text || got.Usage != usage ||
		len(got.Calls) != 1 || got.Calls[0].ID != call.ID || string(got.Calls[0].Args) != string(call.Input) {
		t.Errorf("reply %+v\nSDK   %+v", got, want)
	}
	next := req
	next.Messages = append(next.Messages[:len(next.Messages):len(next.Messages)],
		model.Message{Role: model.Assistant, Text: model.Text{got.Text}, Calls: got.Calls},
		model.Message{Role: model.ToolRole, CallID: "toolu_1", Tool: "find", Text: model.Text{"3"}})
	same(t, messageReply, func(base string) error {
		c := sdk.NewClient(option.WithBaseURL(base+"/"), option.WithAPIKey("sk-1234"), option.WithMaxRetries(0))
		p := messageParams(t, &req, "")
		p.Messages = append(p.Messages, want.ToParam(), sdk.NewUserMessage(sdk.NewToolResultBlock("toolu_1", "3", false)))
		_, err := c.Messages.New(t.Context(), p, option.WithJSONDel("messages.2.content.0.is_error"))
		return err
	}, func(base string) error {
		m, err := anthropicModel(base, func(*anthropic.Config) {})
		if err == nil {
			_, err = m.Generate(t.Context(), &next, nil)
		}
		return err
	})
}
