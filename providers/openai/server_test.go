package openai_test

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/pexctl/pex/engine/enginetest"
	"github.com/pexctl/pex/engine/model"
	"github.com/pexctl/pex/providers/modelhttp/modelhttptest"
	"github.com/pexctl/pex/providers/openai"
)

// vendor describes how the servers of a vendor differ. The zero value is OpenAI.
type vendor struct {
	base   string                                          // path of the API, /v1 by default
	rules  func(r *http.Request, raw []byte) string        // what is wrong with a request, "" = nothing
	asked  func(raw []byte, a *enginetest.ReceivedRequest) // a request in the engine's terms, set right
	refuse func(h http.Header, x enginetest.Response) any  // the body of a refusal
	chunks func(x enginetest.Response) []string
}

// body is the body of a request.
type body struct {
	Model             string
	Messages          []message
	Tools             []struct{ Function function }
	ParallelToolCalls *bool    `json:"parallel_tool_calls"`
	Temperature       *float64 `json:"temperature"`
	TopP              *float64 `json:"top_p"`
	Seed              *int64
	Stop              []string
	MaxTokens         int `json:"max_tokens"`
	Stream            bool
	ResponseFormat    *struct {
		Type       string
		JSONSchema model.ReplySchema `json:"json_schema"`
	} `json:"response_format"`
}

type message struct {
	Role       model.Role `json:"role"`
	Content    *string    `json:"content"`
	Refusal    string     `json:"refusal,omitempty"`
	ToolCalls  []toolCall `json:"tool_calls,omitempty"`
	ToolCallID string     `json:"tool_call_id,omitempty"`
}

type toolCall struct {
	Index    *int     `json:"index,omitempty"`
	ID       string   `json:"id,omitempty"`
	Type     string   `json:"type,omitempty"`
	Function function `json:"function"`
}

type function struct {
	Name        string          `json:"name,omitempty"`
	Arguments   string          `json:"arguments"`
	Description string          `json:"description,omitempty"`
	Parameters  json.RawMessage `json:"parameters,omitempty"`
}

func newServer(t *testing.T, script *enginetest.ModelScript, v vendor) string {
	t.Helper()
	return modelhttptest.Serve(t, script, modelhttptest.Protocol{ParseRequest: v.hear, ErrorBody: v.refusal, ReplyBody: whole, Stream: v.stream})
}

// at returns a model of the server at base that does not wait between retries.
func at(t testing.TB, base string, c openai.Config, set model.Settings) model.Model {
	t.Helper()
	set.BaseURL = base
	m, err := openai.New(&c, set, modelhttptest.DisableWaits)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func defaults() openai.Config { return *openai.OpenAI.Config().(*openai.Config) }

func TestConformance(t *testing.T) {
	enginetest.ModelSuite(t, func(t *testing.T, script *enginetest.ModelScript, set model.Settings) model.Model {
		return at(t, newServer(t, script, vendor{})+"/v1", defaults(), set)
	})
}

func (v vendor) hear(t *testing.T, r *http.Request, raw []byte) (a enginetest.ReceivedRequest, ok bool) {
	t.Helper()
	var b body
	if err := json.Unmarshal(raw, &b); err != nil || r.URL.Path != cmp.Or(v.base, "/v1")+"/chat/completions" {
		return a, false
	}
	if v.rules != nil {
		if wrong := v.rules(r, raw); wrong != "" {
			t.Errorf("the vendor would refuse this: %s: %s", wrong, raw)
		}
	}
	a = b.asked()
	if v.asked != nil {
		v.asked(raw, &a)
	}
	return a, true
}

// asked converts a request to the engine's terms.
func (b body) asked() enginetest.ReceivedRequest {
	out := enginetest.ReceivedRequest{Streamed: b.Stream}
	out.ParallelTools = len(b.Tools) > 0 && (b.ParallelToolCalls == nil || *b.ParallelToolCalls)
	out.Params = model.Params{
		Model: b.Model, Temperature: b.Temperature, TopP: b.TopP, Seed: b.Seed, MaxOutputTokens: b.MaxTokens, Stop: b.Stop,
	}
	for _, t := range b.Tools {
		out.Tools = append(out.Tools, model.ToolDef{Name: t.Function.Name, Description: t.Function.Description, Input: t.Function.Parameters})
	}
	for _, m := range b.Messages {
		msg := model.Message{Role: m.Role, CallID: m.ToolCallID}
		if m.Content != nil {
			msg.Text = model.Text{*m.Content}
		}
		for _, c := range m.ToolCalls {
			msg.Calls = append(msg.Calls, model.ToolCall{ID: c.ID, Name: c.Function.Name, Args: json.RawMessage(c.Function.Arguments)})
		}
		out.Messages = append(out.Messages, msg)
	}
	if b.ResponseFormat != nil {
		out.Schema = &b.ResponseFormat.JSONSchema
	}
	return out
}

func (v vendor) refusal(h http.Header, x enginetest.Response, _ enginetest.ReceivedRequest) any {
	if v.refuse != nil {
		return v.refuse(h, x)
	}
	h.Set("X-Request-Id", x.RequestID)
	return map[string]any{"error": map[string]string{"message": x.Message}}
}

// finish returns the finish reason.
func finish(k model.StopReason) string {
	switch k {
	case model.MaxTokens:
		return "length"
	case model.ToolUse:
		return "tool_calls"
	case model.ContentFiltered:
		return "content_filter"
	case model.EndTurn, model.StopSequence, model.Guardrail, model.Refusal:
	}
	return "stop"
}

func usage(u model.Tokens) map[string]any {
	if u.Total() == 0 {
		return nil
	}
	return map[string]any{
		"prompt_tokens": u.Input, "completion_tokens": u.Output, "total_tokens": u.Total(),
		"prompt_tokens_details":     map[string]int{"cached_tokens": u.Cached},
		"completion_tokens_details": map[string]int{"reasoning_tokens": u.Reasoning},
	}
}

func whole(_ http.Header, x enginetest.Response) any {
	m := message{Role: model.Assistant, Content: &x.Reply.Text}
	if x.Reply.Stop == model.Refusal {
		m.Content, m.Refusal = nil, x.Reply.Text
	}
	for _, c := range x.Reply.Calls {
		m.ToolCalls = append(m.ToolCalls, toolCall{ID: c.ID, Type: "function", Function: function{Name: c.Name, Arguments: string(c.Args)}})
	}
	return map[string]any{
		"id": x.Reply.ID, "object": "chat.completion", "created": 1, "model": x.Reply.Model, "usage": usage(x.Reply.Usage),
		"choices": []any{map[string]any{"index": 0, "message": m, "finish_reason": finish(x.Reply.Stop), "logprobs": nil}},
	}
}

func (v vendor) stream(h http.Header, x enginetest.Response) (out [][]byte) {
	h.Set("Content-Type", "text/event-stream; charset=utf-8")
	list := chunks
	if v.chunks != nil {
		list = v.chunks
	}
	for _, e := range list(x) {
		out = append(out, fmt.Appendf(nil, "data: %s\n\n", e))
	}
	return out
}

// chunk returns one event of a reply.
func chunk(x enginetest.Response, delta, stop any, u map[string]any) string {
	c := map[string]any{"id": x.Reply.ID, "object": "chat.completion.chunk", "created": 1, "model": x.Reply.Model, "usage": u}
	c["choices"] = []any{}
	if delta != nil {
		c["choices"] = []any{map[string]any{"index": 0, "delta": delta, "finish_reason": stop}}
	}
	text, err := json.Marshal(c)
	if err != nil {
		panic(err)
	}
	return string(text)
}

// chunks returns the events of a reply: text by word, calls in parts, finish reason, usage.
func chunks(x enginetest.Response) []string {
	event := func(delta any, stop any, u map[string]any) string { return chunk(x, delta, stop, u) }
	out := []string{event(message{Role: model.Assistant, Content: new(string)}, nil, nil)}
	for _, word := range strings.SplitAfter(x.Reply.Text, " ") {
		out = append(out, event(map[string]string{"content": word}, nil, nil))
	}
	for _, p := range pieces(x) {
		out = append(out, event(map[string]any{"tool_calls": []toolCall{p}}, nil, nil))
	}
	out = append(out, event(map[string]any{}, finish(x.Reply.Stop), nil))
	if u := usage(x.Reply.Usage); u != nil {
		out = append(out, event(nil, nil, u))
	}
	return append(out, "[DONE]")
}

// pieces returns the tool calls of a reply, each in four parts.
func pieces(x enginetest.Response) []toolCall {
	var rounds [4][]toolCall
	for i, c := range x.Reply.Calls {
		args, index := string(c.Args), i
		half := len(args) / 2
		rounds[0] = append(rounds[0], toolCall{Index: &index, ID: c.ID, Type: "function", Function: function{Name: c.Name}})
		rounds[1] = append(rounds[1], toolCall{Index: &index, Function: function{Arguments: args[:half]}})
		rounds[2] = append(rounds[2], toolCall{Index: &index, Function: function{Arguments: ""}})
		rounds[3] = append(rounds[3], toolCall{Index: &index, Function: function{Arguments: args[half:]}})
	}
	var out []toolCall
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
