package anthropic_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/pexctl/pex/engine/enginetest"
	"github.com/pexctl/pex/engine/model"
	"github.com/pexctl/pex/providers/anthropic"
	"github.com/pexctl/pex/providers/modelhttp/modelhttptest"
)

// body is the body of a request.
type body struct {
	Model       string
	MaxTokens   int `json:"max_tokens"`
	System      []part
	Messages    []message
	Tools       []tool
	Temperature *float64
	TopP        *float64 `json:"top_p"`
	Stop        []string `json:"stop_sequences"`
	Stream      bool
	ToolChoice  struct {
		Type, Name string
		Single     bool `json:"disable_parallel_tool_use"`
	} `json:"tool_choice"`
}

type message struct {
	Role    model.Role
	Content []part
}

type tool struct {
	Name, Description string
	InputSchema       json.RawMessage `json:"input_schema"`
}

// part is a content block.
type part struct {
	Type      string          `json:"type"`
	Text      *string         `json:"text,omitempty"`
	ID        string          `json:"id,omitempty"`
	Name      string          `json:"name,omitempty"`
	Input     json.RawMessage `json:"input,omitempty"`
	ToolUseID string          `json:"tool_use_id,omitempty"`
	IsError   bool            `json:"is_error,omitempty"`
	Content   []part          `json:"content,omitempty"`
}

// at returns a model of the server at base that does not wait between retries.
func at(t testing.TB, base string, c anthropic.Config, set model.Settings) model.Model {
	t.Helper()
	set.BaseURL = base
	m, err := anthropic.New(&c, set, modelhttptest.DisableWaits)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func defaults() anthropic.Config { return *anthropic.Anthropic.Config().(*anthropic.Config) }

// The API has no seed (parameters). Reply schemas have no name, and their objects are
// closed (schema). Both have their own tests; a forced tool has the schema unchanged.
func TestConformance(t *testing.T) {
	for how, skip := range map[string][]string{"json_schema": {"parameters", "schema"}, "tool": {"parameters"}} {
		t.Run(how, func(t *testing.T) {
			c := defaults()
			c.StructuredOutput = how
			enginetest.ModelSuite(t, func(t *testing.T, script *enginetest.ModelScript, set model.Settings) model.Model {
				return at(t, modelhttptest.Serve(t, script, speech), c, set)
			}, skip...)
		})
	}
}

// speech implements the Messages API.
var speech = modelhttptest.Protocol{
	ParseRequest: func(t *testing.T, r *http.Request, raw []byte) (a enginetest.ReceivedRequest, ok bool) {
		var b body
		if err := json.Unmarshal(raw, &b); err != nil || r.URL.Path != "/v1/messages" || r.Header.Get("Anthropic-Version") == "" {
			return a, false
		}
		b.check(t)
		return b.asked(), true
	},
	ErrorBody: refusal,
	ReplyBody: func(_ http.Header, x enginetest.Response) any {
		content := []part{}
		if x.Reply.Text != "" {
			content = append(content, part{Type: "text", Text: &x.Reply.Text})
		}
		for _, c := range x.Reply.Calls {
			content = append(content, part{Type: "tool_use", ID: c.ID, Name: c.Name, Input: c.Args})
		}
		return envelope(x, content, finish(x.Reply.Stop), usage(x.Reply.Usage))
	},
	Stream: func(h http.Header, x enginetest.Response) (out [][]byte) {
		h.Set("Content-Type", "text/event-stream; charset=utf-8")
		for _, e := range events(x) {
			text, err := json.Marshal(e)
			if err != nil {
				panic(err)
			}
			out = append(out, fmt.Appendf(nil, "event: %s\ndata: %s\n\n", e["type"], text))
		}
		return out
	},
}

// check reports what the API would reject.
func (b body) check(t *testing.T) {
	t.Helper()
	if b.MaxTokens < 1 || len(b.Messages) == 0 {
		t.Errorf("max_tokens %d, %d messages", b.MaxTokens, len(b.Messages))
	}
	var open []string
	for i, m := range b.Messages {
		if len(m.Content) == 0 || i > 0 && m.Role == b.Messages[i-1].Role && m.Role == model.User {
			t.Errorf("message %d of %s has %d blocks, or continues a turn", i, m.Role, len(m.Content))
		}
		var calls []string
		for j, p := range m.Content {
			switch p.Type {
			case "text":
				if strings.TrimSpace(*p.Text) == "" {
					t.Errorf("message %d has an empty text", i)
				}
			case "tool_use":
				calls = append(calls, p.ID)
			case "tool_result":
				if j >= len(open) || open[j] != p.ToolUseID {
					t.Errorf("message %d: result of %s where those of %v are due", i, p.ToolUseID, open)
				}
			}
		}
		if len(open) > 0 && (len(m.Content) < len(open) || m.Content[len(open)-1].Type != "tool_result") {
			t.Errorf("message %d does not begin with the results of %v", i, open)
		}
		open = calls
	}
}

// asked converts a request to the engine's terms.
func (b body) asked() enginetest.ReceivedRequest {
	out := enginetest.ReceivedRequest{Streamed: b.Stream}
	out.Params = model.Params{Model: b.Model, Temperature: b.Temperature, TopP: b.TopP, MaxOutputTokens: b.MaxTokens, Stop: b.Stop}
	if b.MaxTokens == 16384 { // the API requires a number
		out.Params.MaxOutputTokens = 0
	}
	for _, t := range b.Tools {
		if b.ToolChoice.Type == "tool" {
			out.Schema = &model.ReplySchema{Name: t.Name, Schema: t.InputSchema}
			continue
		}
		out.Tools = append(out.Tools, model.ToolDef{Name: t.Name, Description: t.Description, Input: t.InputSchema})
	}
	out.ParallelTools = len(out.Tools) > 0 && !b.ToolChoice.Single
	for _, p := range b.System {
		out.Messages = append(out.Messages, model.Message{Role: model.System, Text: model.Text{*p.Text}})
	}
	for _, m := range b.Messages {
		if m.Role == model.Assistant {
			out.Messages = append(out.Messages, m.assistant())
			continue
		}
		for _, p := range m.Content {
			msg := model.Message{Role: model.User}
			if p.Type == "tool_result" {
				msg = model.Message{Role: model.ToolRole, CallID: p.ToolUseID, IsError: p.IsError}
				p.Text = new(string)
				for _, inner := range p.Content {
					p.Text = inner.Text
				}
			}
			msg.Text = model.Text{*p.Text}
			out.Messages = append(out.Messages, msg)
		}
	}
	return out
}

func (m message) assistant() model.Message {
	out := model.Message{Role: model.Assistant}
	for _, p := range m.Content {
		switch p.Type {
		case "text":
			out.Text = append(out.Text, *p.Text)
		case "tool_use":
			out.Calls = append(out.Calls, model.ToolCall{ID: p.ID, Name: p.Name, Args: p.Input})
		}
	}
	return out
}

func refusal(h http.Header, x enginetest.Response, _ enginetest.ReceivedRequest) any {
	h.Set("Request-Id", x.RequestID)
	kinds := map[int]string{
		400: "invalid_request_error", 401: "authentication_error", 403: "permission_error", 404: "not_found_error",
		422: "invalid_request_error", 429: "rate_limit_error", 504: "timeout_error", 529: "overloaded_error",
	}
	kind := kinds[x.Status]
	if kind == "" {
		kind = "api_error"
	}
	return map[string]any{"type": "error", "error": map[string]string{"type": kind, "message": x.Message}}
}

// finish returns the stop reason.
func finish(k model.StopReason) string {
	switch k {
	case model.MaxTokens, model.ToolUse, model.Refusal, model.StopSequence, model.ContentFiltered:
		return string(k) // content_filtered: of gateways; the API has only refusal
	case model.EndTurn, model.Guardrail:
	}
	return "end_turn"
}

func usage(u model.Tokens) map[string]any {
	if u.Total() == 0 {
		return nil
	}
	return map[string]any{
		"input_tokens": u.Input - u.Cached, "cache_read_input_tokens": u.Cached, "cache_creation_input_tokens": 0,
		"output_tokens": u.Output, "output_tokens_details": map[string]int{"thinking_tokens": u.Reasoning},
	}
}

func envelope(x enginetest.Response, content []part, stop any, u map[string]any) map[string]any {
	return map[string]any{
		"id": x.Reply.ID, "type": "message", "role": "assistant", "model": x.Reply.Model,
		"content": content, "stop_reason": stop, "stop_sequence": nil, "usage": u,
	}
}

type event = map[string]any

// events returns the events of a reply: text by word, calls in parts, stop reason, usage.
func events(x enginetest.Response) []event {
	out := []event{{"type": "message_start", "message": envelope(x, []part{}, nil, usage(x.Reply.Usage))}, {"type": "ping"}}
	if x.Reply.Text != "" {
		out = append(out, event{"type": "content_block_start", "index": 0, "content_block": part{Type: "text", Text: new(string)}})
		for _, word := range strings.SplitAfter(x.Reply.Text, " ") {
			out = append(out, event{"type": "content_block_delta", "index": 0, "delta": event{"type": "text_delta", "text": word}})
		}
		out = append(out, event{"type": "content_block_stop", "index": 0})
	}
	out = append(out, pieces(x)...)
	end := event{"type": "message_delta", "delta": event{"stop_reason": finish(x.Reply.Stop), "stop_sequence": nil}}
	if u := usage(x.Reply.Usage); u != nil {
		end["usage"] = event{"output_tokens": u["output_tokens"]}
	}
	return append(out, end, event{"type": "message_stop"})
}

// pieces returns the tool calls of a reply, each in five events.
func pieces(x enginetest.Response) []event {
	var rounds [5][]event
	for i, c := range x.Reply.Calls {
		half := len(c.Args) / 2
		piece := func(args string) event {
			return event{"type": "content_block_delta", "index": i + 1, "delta": event{"type": "input_json_delta", "partial_json": args}}
		}
		begin := part{Type: "tool_use", ID: c.ID, Name: c.Name, Input: json.RawMessage("{}")}
		rounds[0] = append(rounds[0], event{"type": "content_block_start", "index": i + 1, "content_block": begin})
		rounds[1] = append(rounds[1], piece(string(c.Args[:half])))
		rounds[2] = append(rounds[2], piece(""))
		rounds[3] = append(rounds[3], piece(string(c.Args[half:])))
		rounds[4] = append(rounds[4], event{"type": "content_block_stop", "index": i + 1})
	}
	var out []event
	if x.Interleave {
		for _, round := range rounds {
			out = append(out, round...)
		}
		return out
	}
	for i := range x.Reply.Calls {
		for _, round := range rounds {
			out = append(out, round[i])
		}
	}
	return out
}
