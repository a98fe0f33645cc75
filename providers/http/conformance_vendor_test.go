package http_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/pexctl/pex/engine/enginetest"
	"github.com/pexctl/pex/engine/model"
)

// converseRequest is a request of Converse.
type converseRequest struct {
	System   []struct{ Text string }
	Messages []struct {
		Role    model.Role
		Content []converseBlock
	}
	InferenceConfig struct {
		MaxTokens     int
		Temperature   *float64
		TopP          *float64
		StopSequences []string
	}
	ToolConfig *struct {
		Tools []struct {
			Spec struct {
				Name, Description string
				InputSchema       struct{ JSON json.RawMessage }
			} `json:"toolSpec"`
		}
	}
	More struct {
		Choice struct {
			One bool `json:"disable_parallel_tool_use"`
		} `json:"tool_choice"`
	} `json:"additionalModelRequestFields"`
}

type converseBlock struct {
	Text    *string
	ToolUse *struct {
		ID    string `json:"toolUseId"`
		Name  string
		Input json.RawMessage
	}
	Result *struct {
		ID      string `json:"toolUseId"`
		Status  string
		Content []struct{ Text string }
	} `json:"toolResult"`
}

// checked decodes a request and reports what the API would reject.
func checked(t *testing.T, raw []byte) converseRequest {
	t.Helper()
	var b converseRequest
	read(t, raw, &b)
	var last model.Role
	for _, m := range b.Messages {
		if m.Role == last || len(m.Content) == 0 {
			t.Errorf("roles do not alternate, or a turn is empty: %s", raw)
		}
		last = m.Role
		for _, c := range m.Content {
			if c.Text != nil && strings.TrimSpace(*c.Text) == "" {
				t.Errorf("a text block is blank: %s", raw)
			}
			if (c.ToolUse != nil || c.Result != nil) && b.ToolConfig == nil {
				t.Errorf("calls without toolConfig: %s", raw)
			}
		}
	}
	return b
}

func converseProtocol() protocol {
	return protocol{
		path: "/model/MODEL/converse", id: "X-Amzn-Requestid",
		refuse: func(x enginetest.Response) any { return object("message", x.Message) },
		answer: func(x enginetest.Response) any {
			content := []any{object("reasoningContent", object("reasoningText", object("text", "Hm.")))}
			if x.Reply.Text != "" {
				content = append(content, object("text", x.Reply.Text))
			}
			for _, c := range x.Reply.Calls {
				content = append(content, object("toolUse", object("toolUseId", c.ID, "name", c.Name, "input", c.Args)))
			}
			return converseAnswer(x, content)
		},
		parseRequest: func(t *testing.T, raw []byte) enginetest.ReceivedRequest {
			b := checked(t, raw)
			out := converseAsked(t, b)
			if b.ToolConfig != nil && b.More.Choice.One {
				out.ParallelTools = false
			}
			return out
		},
	}
}

func converseAnswer(x enginetest.Response, content []any) any {
	stop := map[model.StopReason]string{model.MaxTokens: "max_tokens", model.ToolUse: "tool_use", model.ContentFiltered: "content_filtered"}[x.Reply.Stop]
	if stop == "" {
		stop = "end_turn"
	}
	out := object("output", object("message", object("role", "assistant", "content", content)), "stopReason", stop, "metrics", object("latencyMs", 12))
	if u := x.Reply.Usage; u.Total() > 0 {
		out["usage"] = object("inputTokens", u.Input-u.Cached, "outputTokens", u.Output, "totalTokens", u.Total(), "cacheReadInputTokens", u.Cached)
	}
	return out
}

func converseAsked(t *testing.T, b converseRequest) enginetest.ReceivedRequest {
	t.Helper()
	out := enginetest.ReceivedRequest{}
	out.Params = model.Params{Temperature: b.InferenceConfig.Temperature, TopP: b.InferenceConfig.TopP, MaxOutputTokens: b.InferenceConfig.MaxTokens, Stop: b.InferenceConfig.StopSequences}
	if b.ToolConfig != nil {
		for _, x := range b.ToolConfig.Tools {
			out.Tools = append(out.Tools, model.ToolDef{Name: x.Spec.Name, Description: x.Spec.Description, Input: x.Spec.InputSchema.JSON})
		}
	}
	var system []string
	for _, s := range b.System {
		system = append(system, s.Text)
	}
	instructions(t, system, &out)
	for _, m := range b.Messages {
		out.Messages = append(out.Messages, converseMessages(m.Role, m.Content)...)
	}
	return out
}

// converseMessages converts one turn; each tool result is a message.
func converseMessages(role model.Role, content []converseBlock) []model.Message {
	var out []model.Message
	msg := model.Message{Role: role}
	for _, c := range content {
		switch {
		case c.Result != nil:
			out = append(out, model.Message{Role: model.ToolRole, CallID: c.Result.ID, IsError: c.Result.Status == "error", Text: model.Text{c.Result.Content[0].Text}})
		case c.ToolUse != nil:
			msg.Calls = append(msg.Calls, model.ToolCall{ID: c.ToolUse.ID, Name: c.ToolUse.Name, Args: c.ToolUse.Input})
		case c.Text != nil:
			msg.Text = append(msg.Text, *c.Text)
		}
	}
	if len(msg.Text) > 0 || len(msg.Calls) > 0 {
		out = append(out, msg)
	}
	return out
}

// promptedProtocol is a model behind Converse that follows the protocol in the system prompt and adds thinking.
func promptedProtocol() protocol {
	p := converseProtocol()
	p.parseRequest = func(t *testing.T, raw []byte) enginetest.ReceivedRequest { return promptedAsked(t, checked(t, raw)) }
	p.answer = func(x enginetest.Response) any {
		reply := object("stop_reason", "end_turn", "message", object("role", "assistant", "content", []any{object("text", x.Reply.Text)}))
		var calls []any
		for _, c := range x.Reply.Calls {
			calls = append(calls, object("id", c.ID, "tool_name", c.Name, "input", c.Args))
		}
		if calls != nil {
			reply["stop_reason"], reply["tool_calls"] = "tool_use", calls
		}
		return converseAnswer(x, []any{object("text", "<think>Which {tool}?</think>\n```json\n"+marshal(reply)+"\n```")})
	}
	return p
}

func promptedAsked(t *testing.T, b converseRequest) enginetest.ReceivedRequest {
	t.Helper()
	out := enginetest.ReceivedRequest{}
	var system []string
	for _, s := range b.System {
		_, lines, ok := strings.Cut(s.Text, "each with the JSON Schema of its input:\n")
		if !ok {
			system = append(system, s.Text)
			continue
		}
		for line := range strings.SplitSeq(lines, "\n") {
			var d struct {
				Name, Description string
				Input             json.RawMessage `json:"input_schema"`
			}
			read(t, []byte(line), &d)
			out.Tools = append(out.Tools, model.ToolDef(d))
		}
	}
	instructions(t, system, &out)
	for _, m := range b.Messages {
		for _, c := range m.Content {
			out.Messages = append(out.Messages, promptedMessage(t, m.Role, *c.Text))
		}
	}
	return out
}

func promptedMessage(t *testing.T, role model.Role, text string) model.Message {
	t.Helper()
	var reply struct {
		CallID string `json:"tool_call_id"`
		Result string `json:"tool_result"`
		Failed bool   `json:"tool_error"`
		Calls  []struct {
			ID    string
			Name  string `json:"tool_name"`
			Input json.RawMessage
		} `json:"tool_calls"`
		Message struct{ Content []struct{ Text string } }
	}
	if !strings.HasPrefix(text, "{") {
		return model.Message{Role: role, Text: model.Text{text}}
	}
	read(t, []byte(text), &reply)
	if role == model.User {
		return model.Message{Role: model.ToolRole, CallID: reply.CallID, IsError: reply.Failed, Text: model.Text{reply.Result}}
	}
	out := model.Message{Role: role}
	for _, c := range reply.Message.Content {
		out.Text = append(out.Text, c.Text)
	}
	for _, c := range reply.Calls {
		out.Calls = append(out.Calls, model.ToolCall{ID: c.ID, Name: c.Name, Args: c.Input})
	}
	return out
}

type geminiRequest struct {
	System   struct{ Parts []struct{ Text string } } `json:"systemInstruction"`
	Contents []struct {
		Role  string
		Parts []geminiPart
	}
	Tools []struct {
		Functions []struct {
			Name, Description string
			Parameters        json.RawMessage `json:"parametersJsonSchema"`
		} `json:"functionDeclarations"`
	}
	Config struct {
		Temperature     *float64
		TopP            *float64
		Seed            *int64
		MaxOutputTokens int
		StopSequences   []string
		MIME            string          `json:"responseMimeType"`
		Schema          json.RawMessage `json:"responseJsonSchema"`
	} `json:"generationConfig"`
}

type geminiPart struct {
	Text *string
	Call *struct {
		ID, Name string
		Args     json.RawMessage
	} `json:"functionCall"`
	Response *struct {
		ID, Name string
		Response struct{ Output, Error string }
	} `json:"functionResponse"`
}

func geminiProtocol() protocol {
	return protocol{
		path: "/models/MODEL:generateContent", id: "X-Request-Id", parseRequest: geminiAsked,
		refuse: func(x enginetest.Response) any {
			return object("error", object("code", x.Status, "message", x.Message, "status", "UNKNOWN"))
		},
		answer: func(x enginetest.Response) any {
			parts := []any{object("text", "Hm.", "thought", true)}
			if x.Reply.Text != "" {
				parts = append(parts, object("text", x.Reply.Text))
			}
			for _, c := range x.Reply.Calls {
				call := object("name", c.Name, "args", c.Args)
				if c.ID != "" {
					call["id"] = c.ID
				}
				parts = append(parts, object("functionCall", call))
			}
			finish := map[model.StopReason]string{model.MaxTokens: "MAX_TOKENS", model.ContentFiltered: "SAFETY"}[x.Reply.Stop]
			if finish == "" {
				finish = "STOP"
			}
			out := object("responseId", x.Reply.ID, "modelVersion", x.Reply.Model,
				"candidates", []any{object("content", object("role", "model", "parts", parts), "finishReason", finish, "index", 0)})
			if u := x.Reply.Usage; u.Total() > 0 {
				out["usageMetadata"] = object("promptTokenCount", u.Input, "candidatesTokenCount", u.Output-u.Reasoning,
					"thoughtsTokenCount", u.Reasoning, "cachedContentTokenCount", u.Cached, "totalTokenCount", u.Total())
			}
			return out
		},
	}
}

func geminiAsked(t *testing.T, raw []byte) enginetest.ReceivedRequest {
	var b geminiRequest
	read(t, raw, &b)
	out := enginetest.ReceivedRequest{}
	c := b.Config
	out.Params = model.Params{Temperature: c.Temperature, TopP: c.TopP, Seed: c.Seed, MaxOutputTokens: c.MaxOutputTokens, Stop: c.StopSequences}
	for _, x := range b.Tools {
		for _, f := range x.Functions {
			out.Tools = append(out.Tools, model.ToolDef{Name: f.Name, Description: f.Description, Input: f.Parameters})
		}
	}
	var system []string
	for _, p := range b.System.Parts {
		system = append(system, p.Text)
	}
	instructions(t, system, &out)
	if c.Schema != nil && c.MIME == "application/json" {
		out.Schema = &model.ReplySchema{Name: "plan", Schema: c.Schema}
	}
	for _, turn := range b.Contents {
		msg := model.Message{Role: map[string]model.Role{"user": model.User, "model": model.Assistant}[turn.Role]}
		for _, p := range turn.Parts {
			switch {
			case p.Response != nil:
				text := p.Response.Response.Output + p.Response.Response.Error
				out.Messages = append(out.Messages, model.Message{Role: model.ToolRole, CallID: p.Response.ID, IsError: p.Response.Response.Error != "", Text: model.Text{text}})
			case p.Call != nil:
				msg.Calls = append(msg.Calls, model.ToolCall{ID: p.Call.ID, Name: p.Call.Name, Args: p.Call.Args})
			case p.Text != nil:
				msg.Text = append(msg.Text, *p.Text)
			}
		}
		if len(msg.Text) > 0 || len(msg.Calls) > 0 {
			out.Messages = append(out.Messages, msg)
		}
	}
	return out
}
