package openai_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/pexctl/pex/engine/model"
	"github.com/pexctl/pex/providers/modelhttp/modelhttptest"
)

// streams are the tests of streams.
var streams = modelhttptest.Streams{Kind: "text/event-stream", New: func(tb testing.TB, set model.Settings) model.Model {
	return at(tb, set.BaseURL, defaults(), set)
}}

func recorded(tb testing.TB, name string) []byte {
	tb.Helper()
	return modelhttptest.ReadRecorded(tb, "stream/"+name+".sse")
}

var question = modelhttptest.Question

func TestStreamsOfManyServers(t *testing.T) {
	tests := []struct {
		file      string
		want      model.Reply
		reasoning string
	}{
		{"text", model.Reply{
			ID: "chatcmpl-1", Model: "gpt-4.1-mini-2025-04-14", Text: "Moss is green.", Stop: model.EndTurn,
			Usage: model.Tokens{Input: 19, Output: 4, Cached: 8},
		}, ""},
		{"interleaved", model.Reply{ID: "i", Model: "m", Calls: modelhttptest.Calls("call_a", "f", `{"x":1}`, "call_b", "g", `{"y":2}`), Stop: model.ToolUse}, ""},
		{"repeated_type", model.Reply{Calls: modelhttptest.Calls("call_a", "f", `{"x":1}`), Stop: model.ToolUse}, ""},
		{"name_in_pieces", model.Reply{Calls: modelhttptest.Calls("call_a", "get_weather", `{}`), Stop: model.ToolUse}, ""},
		{"empty_arguments", model.Reply{Calls: modelhttptest.Calls("call_a", "now", `{}`), Stop: model.ToolUse}, ""},
		{"no_index", model.Reply{Calls: modelhttptest.Calls("call_a", "f", `{"x":1}`, "call_b", "f", `{"x":2}`), Stop: model.ToolUse}, ""},
		{"no_index_no_id", model.Reply{Calls: modelhttptest.Calls("call_0", "f", `{"x":1}`, "call_1", "f", `{"x":2}`), Stop: model.ToolUse}, ""},
		{"same_index", model.Reply{Calls: modelhttptest.Calls("call_a", "f", `{"x":1}`, "call_b", "g", `{"y":2}`), Stop: model.ToolUse}, ""},
		{"reasoning", model.Reply{
			ID: "r", Model: "m", Text: "Green.", Stop: model.EndTurn,
			Usage: model.Tokens{Input: 10, Output: 32, Cached: 4, Reasoning: 30},
		}, "Green or brown?"},
		{"refusal", model.Reply{Text: "I cannot do that.", Stop: model.Refusal}, ""},
		{"second_choice", model.Reply{Text: "one", Stop: model.EndTurn}, ""},
		{"no_done", model.Reply{Text: "whole", Stop: model.EndTurn}, ""},
		{"stop_sequence", model.Reply{Text: "up to", Stop: model.StopSequence}, ""},
	}
	for _, tt := range tests {
		t.Run(tt.file, func(t *testing.T) {
			m := at(t, modelhttptest.Replay(t, "text/event-stream", recorded(t, tt.file)), defaults(), model.Settings{Model: "m"})
			got := modelhttptest.ReadStream(t, m, question)
			ignore := cmpopts.IgnoreFields(model.Reply{}, "Latency", "FirstToken")
			if tt.want.Usage.Total() == 0 {
				ignore = cmpopts.IgnoreFields(model.Reply{}, "Latency", "FirstToken", "Usage", "Estimated", "Uncounted")
			}
			if diff := cmp.Diff(&tt.want, got.Reply, ignore); diff != "" {
				t.Error(diff)
			}
			if tt.want.Stop != model.Refusal && got.Text != tt.want.Text || got.Reasoning != tt.reasoning {
				t.Errorf("deltas %q, reasoning %q", got.Text, got.Reasoning)
			}
		})
	}
}

func TestBrokenStreamsAreErrors(t *testing.T) {
	tests := []struct {
		file string
		kind model.ErrorKind
		text string
	}{
		{"bad_cut", model.Truncated, "before the reply was complete"},
		{"bad_done_only", model.Truncated, "before the reply was complete"},
		{"bad_error_event", model.Overloaded, "overloaded with [redacted]"},
		{"bad_error_status", model.RateLimited, "slow down"},
		{"bad_finish_error", model.ServerError, "error"},
		{"bad_json", model.BadReply, "cannot be read"},
		{"bad_content", model.BadReply, "neither text nor a list"},
		{"bad_nameless_call", model.BadReply, "has no name"},
	}
	for _, tt := range tests {
		t.Run(tt.file, func(t *testing.T) {
			streams.RejectStream(t, recorded(t, tt.file), tt.kind, tt.text)
		})
	}
}

func TestTruncatedStreamIsAnErrorOrTheWholeReply(t *testing.T) {
	for _, file := range []string{"text", "interleaved", "reasoning"} {
		t.Run(file, func(t *testing.T) { streams.CheckTruncations(t, recorded(t, file)) })
	}
}

func TestReplyThatIsNotStreamedIsAccepted(t *testing.T) {
	text := `{"id": "x", "choices": [{"index": 0, "message": {"role": "assistant", "content": "whole"}, "finish_reason": "stop"}]}`
	m := at(t, modelhttptest.Replay(t, "application/json", []byte(text)), defaults(), model.Settings{})
	var deltas []string
	got, err := m.Generate(t.Context(), question, func(d model.Delta) { deltas = append(deltas, d.Text) })
	if err != nil || got.Text != "whole" || fmt.Sprint(deltas) != "[whole]" {
		t.Errorf("reply %+v, deltas %v, error %v", got, deltas, err)
	}
}

func TestHTMLInsteadOfAStreamIsAnError(t *testing.T) { streams.CheckHTML(t) }

func FuzzStream(f *testing.F) { streams.Fuzz(f, "stream") }

// BenchmarkStream measures a streamed reply of 1,000 chunks.
func BenchmarkStream(b *testing.B) {
	chunk := `data: {"id":"c","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":{"content":" moss"},"logprobs":null,"finish_reason":null}]}` + "\n\n"
	end := `data: {"id":"c","model":"m","choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}` + "\n\ndata: [DONE]\n\n"
	m := at(b, modelhttptest.Replay(b, "text/event-stream", []byte(strings.Repeat(chunk, 1000)+end)), defaults(), model.Settings{})
	b.ReportAllocs()
	for b.Loop() {
		if _, err := m.Generate(b.Context(), question, func(model.Delta) {}); err != nil {
			b.Fatal(err)
		}
	}
}
