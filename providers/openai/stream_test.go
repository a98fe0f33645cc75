package openai_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/providers/call/calltest"
)

// streams are those of a server at an address.
var streams = calltest.Streams{Kind: "text/event-stream", New: func(tb testing.TB, set engine.ModelSettings) engine.Model {
	return at(tb, set.BaseURL, defaults(), set)
}}

func recorded(tb testing.TB, name string) []byte {
	tb.Helper()
	return calltest.Recorded(tb, "stream/"+name+".sse")
}

var question = calltest.Question

func TestStreamsOfManyServers(t *testing.T) {
	tests := []struct {
		file      string
		want      engine.Reply
		reasoning string
	}{
		{"text", engine.Reply{
			ID: "chatcmpl-1", Model: "gpt-4.1-mini-2025-04-14", Text: "Moss is green.", Stop: engine.EndTurn,
			Usage: engine.Tokens{Input: 19, Output: 4, Cached: 8},
		}, ""},
		{"interleaved", engine.Reply{ID: "i", Model: "m", Calls: calltest.Calls("call_a", "f", `{"x":1}`, "call_b", "g", `{"y":2}`), Stop: engine.ToolUse}, ""},
		{"repeated_type", engine.Reply{Calls: calltest.Calls("call_a", "f", `{"x":1}`), Stop: engine.ToolUse}, ""},
		{"name_in_pieces", engine.Reply{Calls: calltest.Calls("call_a", "get_weather", `{}`), Stop: engine.ToolUse}, ""},
		{"empty_arguments", engine.Reply{Calls: calltest.Calls("call_a", "now", `{}`), Stop: engine.ToolUse}, ""},
		{"no_index", engine.Reply{Calls: calltest.Calls("call_a", "f", `{"x":1}`, "call_b", "f", `{"x":2}`), Stop: engine.ToolUse}, ""},
		{"no_index_no_id", engine.Reply{Calls: calltest.Calls("call_0", "f", `{"x":1}`, "call_1", "f", `{"x":2}`), Stop: engine.ToolUse}, ""},
		{"same_index", engine.Reply{Calls: calltest.Calls("call_a", "f", `{"x":1}`, "call_b", "g", `{"y":2}`), Stop: engine.ToolUse}, ""},
		{"reasoning", engine.Reply{
			ID: "r", Model: "m", Text: "Green.", Stop: engine.EndTurn,
			Usage: engine.Tokens{Input: 10, Output: 32, Cached: 4, Reasoning: 30},
		}, "Green or brown?"},
		{"refusal", engine.Reply{Text: "I cannot do that.", Stop: engine.Refusal}, ""},
		{"second_choice", engine.Reply{Text: "one", Stop: engine.EndTurn}, ""},
		{"no_done", engine.Reply{Text: "whole", Stop: engine.EndTurn}, ""},
		{"stop_sequence", engine.Reply{Text: "up to", Stop: engine.StopSequence}, ""},
	}
	for _, tt := range tests {
		t.Run(tt.file, func(t *testing.T) {
			m := at(t, calltest.Replay(t, "text/event-stream", recorded(t, tt.file)), defaults(), engine.ModelSettings{Model: "m"})
			got := calltest.Hear(t, m, question)
			ignore := cmpopts.IgnoreFields(engine.Reply{}, "Latency", "FirstToken")
			if tt.want.Usage.Total() == 0 {
				ignore = cmpopts.IgnoreFields(engine.Reply{}, "Latency", "FirstToken", "Usage", "Estimated", "Uncounted")
			}
			if diff := cmp.Diff(&tt.want, got.Reply, ignore); diff != "" {
				t.Error(diff)
			}
			if tt.want.Stop != engine.Refusal && got.Text != tt.want.Text || got.Reasoning != tt.reasoning {
				t.Errorf("deltas %q, reasoning %q", got.Text, got.Reasoning)
			}
		})
	}
}

func TestBrokenStreamsAreNeverAnswers(t *testing.T) {
	tests := []struct {
		file string
		kind engine.ErrorKind
		text string
	}{
		{"bad_cut", engine.Truncated, "before the reply did"},
		{"bad_done_only", engine.Truncated, "before the reply did"},
		{"bad_error_event", engine.Overloaded, "overloaded with [redacted]"},
		{"bad_error_status", engine.RateLimited, "slow down"},
		{"bad_finish_error", engine.ServerError, "error"},
		{"bad_json", engine.BadReply, "cannot be read"},
		{"bad_content", engine.BadReply, "neither text nor a list"},
		{"bad_nameless_call", engine.BadReply, "has no name"},
	}
	for _, tt := range tests {
		t.Run(tt.file, func(t *testing.T) {
			streams.Broken(t, recorded(t, tt.file), tt.kind, tt.text)
		})
	}
}

func TestEveryCutOfAStreamIsAnErrorOrTheWholeReply(t *testing.T) {
	for _, file := range []string{"text", "interleaved", "reasoning"} {
		t.Run(file, func(t *testing.T) { streams.Cuts(t, recorded(t, file)) })
	}
}

func TestServerThatDoesNotStreamIsUnderstood(t *testing.T) {
	text := `{"id": "x", "choices": [{"index": 0, "message": {"role": "assistant", "content": "whole"}, "finish_reason": "stop"}]}`
	m := at(t, calltest.Replay(t, "application/json", []byte(text)), defaults(), engine.ModelSettings{})
	var deltas []string
	got, err := m.Generate(t.Context(), question, func(d engine.Delta) { deltas = append(deltas, d.Text) })
	if err != nil || got.Text != "whole" || fmt.Sprint(deltas) != "[whole]" {
		t.Errorf("reply %+v, deltas %v, error %v", got, deltas, err)
	}
}

func TestPageInPlaceOfAStreamIsNoReply(t *testing.T) { streams.Page(t) }

func FuzzStream(f *testing.F) { streams.Fuzz(f, "stream") }
