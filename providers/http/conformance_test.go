package http_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/pexctl/pex/engine/enginetest"
	"github.com/pexctl/pex/engine/model"
)

// No endpoint of this provider streams.
const noStreams = "streamed text"

func TestConformanceOfChat(t *testing.T) {
	conforms(t, of("openai/v1/chat/completions"), chatProtocol(), noStreams)
}

// Converse does not name the model ("text"), count reasoning tokens ("usage") or distinguish refusals, and has no seed
// ("parameters"). TestRecordedReplies and TestRequests cover the rest of these cases.
func TestConformanceOfConverse(t *testing.T) {
	conforms(t, of("bedrock/converse/claude"), converseProtocol(), noStreams, "text", "usage", "refusal", "parameters")
}

func TestConformanceOfPrompted(t *testing.T) {
	conforms(t, of("bedrock/converse/deepseek_r1"), promptedProtocol(), noStreams, "text", "usage", "refusal", "parameters")
}

// Gemini does not distinguish refusals: its filters stop a reply.
func TestConformanceOfGemini(t *testing.T) {
	conforms(t, of("gemini/v1beta/generatecontent"), geminiProtocol(), noStreams, "refusal")
}

// Text in, text out: there are no calls, counts, ids or stop reasons.
func TestConformanceOfText(t *testing.T) {
	c := defaults()
	c.RequestBody = value(t, `{"inputs": "${args.messages}", "model": "${args.model}", "schema": "${args.schema}", "parameters": {
		"temperature": "${args.temperature}", "top_p": "${args.top_p}", "seed": "${args.seed}", "max_new_tokens": "${args.max_output_tokens}", "stop": "${args.stop}"}}`)
	c.ResponseFilter = member(0, "generated_text")
	conforms(t, c, textProtocol(), noStreams, "text", "conversation", "tools", "empty messages", "stop reasons", "refusal", "usage", "call ids", "streamed calls")
}

func object(fields ...any) map[string]any {
	out := map[string]any{}
	for i := 0; i < len(fields); i += 2 {
		out[fields[i].(string)] = fields[i+1]
	}
	return out
}

func chatProtocol() protocol {
	return protocol{
		path: "/chat/completions", id: "X-Request-Id", parseRequest: chatAsked,
		refuse: func(x enginetest.Response) any { return object("error", object("message", x.Message)) },
		answer: func(x enginetest.Response) any {
			m := object("role", "assistant", "content", x.Reply.Text)
			finish := map[model.StopReason]string{model.MaxTokens: "length", model.ToolUse: "tool_calls", model.ContentFiltered: "content_filter"}[x.Reply.Stop]
			if x.Reply.Stop == model.Refusal {
				m["content"], m["refusal"] = nil, x.Reply.Text
			}
			var calls []any
			for _, c := range x.Reply.Calls {
				calls = append(calls, object("id", c.ID, "type", "function", "function", object("name", c.Name, "arguments", string(c.Args))))
			}
			m["tool_calls"] = calls
			out := object("id", x.Reply.ID, "model", x.Reply.Model, "choices", []any{object("index", 0, "message", m, "finish_reason", finish)})
			if u := x.Reply.Usage; u.Total() > 0 {
				out["usage"] = object("prompt_tokens", u.Input, "completion_tokens", u.Output, "total_tokens", u.Total(),
					"prompt_tokens_details", object("cached_tokens", u.Cached), "completion_tokens_details", object("reasoning_tokens", u.Reasoning))
			}
			return out
		},
	}
}

func chatAsked(t *testing.T, raw []byte) enginetest.ReceivedRequest {
	var b struct {
		Model    string
		Messages []struct {
			Role      model.Role
			Content   *string
			CallID    string `json:"tool_call_id"`
			ToolCalls []struct {
				ID       string
				Function struct{ Name, Arguments string }
			} `json:"tool_calls"`
		}
		Tools []struct {
			Function struct {
				Name, Description string
				Parameters        json.RawMessage
			}
		}
		Parallel    *bool `json:"parallel_tool_calls"`
		Temperature *float64
		TopP        *float64 `json:"top_p"`
		Seed        *int64
		Stop        []string
		MaxTokens   int `json:"max_tokens"`
		Format      *struct {
			Schema model.ReplySchema `json:"json_schema"`
		} `json:"response_format"`
	}
	read(t, raw, &b)
	out := enginetest.ReceivedRequest{}
	out.Params = model.Params{Model: b.Model, Temperature: b.Temperature, TopP: b.TopP, Seed: b.Seed, MaxOutputTokens: b.MaxTokens, Stop: b.Stop}
	out.ParallelTools = len(b.Tools) > 0 && (b.Parallel == nil || *b.Parallel)
	for _, m := range b.Messages {
		msg := model.Message{Role: m.Role, CallID: m.CallID}
		if m.Content != nil {
			msg.Text = model.Text{*m.Content}
		}
		for _, c := range m.ToolCalls {
			msg.Calls = append(msg.Calls, model.ToolCall{ID: c.ID, Name: c.Function.Name, Args: json.RawMessage(c.Function.Arguments)})
		}
		out.Messages = append(out.Messages, msg)
	}
	for _, x := range b.Tools {
		out.Tools = append(out.Tools, model.ToolDef{Name: x.Function.Name, Description: x.Function.Description, Input: x.Function.Parameters})
	}
	if b.Format != nil {
		out.Schema = &b.Format.Schema
	}
	return out
}

func textProtocol() protocol {
	return protocol{
		id:     "X-Request-Id",
		refuse: func(x enginetest.Response) any { return object("error", x.Message) },
		answer: func(x enginetest.Response) any { return []any{object("generated_text", x.Reply.Text)} },
		parseRequest: func(t *testing.T, raw []byte) enginetest.ReceivedRequest {
			var b struct {
				Inputs     []struct{ Role, Content string }
				Model      string
				Schema     json.RawMessage
				Parameters struct {
					Temperature *float64
					TopP        *float64 `json:"top_p"`
					Seed        *int64
					Most        int `json:"max_new_tokens"`
					Stop        []string
				}
			}
			read(t, raw, &b)
			p := b.Parameters
			out := enginetest.ReceivedRequest{}
			out.Params = model.Params{Model: b.Model, Temperature: p.Temperature, TopP: p.TopP, Seed: p.Seed, MaxOutputTokens: p.Most, Stop: p.Stop}
			for _, m := range b.Inputs {
				out.Messages = append(out.Messages, model.Message{Role: model.Role(m.Role), Text: model.Text{m.Content}})
			}
			if b.Schema != nil {
				out.Schema = &model.ReplySchema{Name: "plan", Schema: b.Schema}
			}
			return out
		},
	}
}

// instructions extracts from system texts what the provider appended: the reply schema, and the limit of one call.
func instructions(t *testing.T, system []string, a *enginetest.ReceivedRequest) {
	t.Helper()
	a.ParallelTools = len(a.Tools) > 0
	for _, s := range system {
		head, schema, ok := strings.Cut(s, ":\n")
		var name string
		switch {
		case ok && strings.HasPrefix(head, "Answer with one JSON value"):
			if _, err := fmt.Sscanf(head[strings.LastIndex(head, "named ")+len("named "):], "%q", &name); err != nil {
				t.Errorf("%v: %s", err, head)
			}
			a.Schema = &model.ReplySchema{Name: name, Schema: json.RawMessage(schema)}
		case s == "Call at most one tool in each reply.":
			a.ParallelTools = false
		default:
			a.Messages = append(a.Messages, model.Message{Role: model.System, Text: model.Text{s}})
		}
	}
}
