package anthropic_test

import (
	"encoding/json"
	"fmt"
	"strings"
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
	return calltest.Recorded(tb, "recorded/"+name)
}

var question = calltest.Question

// ignored is what differs from call to call, and what has tests of its own.
var ignored = cmp.Options{
	cmpopts.IgnoreFields(engine.Reply{}, "Latency", "FirstToken"),
	cmpopts.IgnoreFields(engine.ToolCall{}, "Opaque"),
}

func TestRecordedStreams(t *testing.T) {
	const sonnet = "claude-sonnet-4-6"
	moss := engine.Reply{ID: "msg_01", Model: sonnet, Text: "Moss is green.", Stop: engine.EndTurn, Usage: engine.Tokens{Input: 25, Output: 15}}
	tests := []struct {
		file      string
		want      engine.Reply
		reasoning string
	}{
		{"text", moss, ""},
		{"nameless_events", moss, ""},
		{"late_usage", moss, ""},
		{"tools", engine.Reply{
			ID: "msg_01", Model: sonnet, Text: "Okay, let me check.", Stop: engine.ToolUse, Usage: engine.Tokens{Input: 472, Output: 89},
			Calls: calltest.Calls("toolu_01", "get_weather", `{"location": "San Francisco, CA"}`, "toolu_02", "now", `{}`),
		}, ""},
		{"thinking_tools", engine.Reply{
			ID: "msg_01", Model: sonnet, Text: "I look.", Stop: engine.ToolUse, Usage: engine.Tokens{Input: 100, Output: 60, Reasoning: 40},
			Calls: calltest.Calls("toolu_01", "get_weather", `{"q":"Rome"}`, "toolu_02", "now", `{}`),
		}, "Which town? The nearest.And the time?"},
		{"interleaved", engine.Reply{
			ID: "msg_01", Model: sonnet, Stop: engine.ToolUse, Usage: engine.Tokens{Input: 25, Output: 9},
			Calls: calltest.Calls("toolu_a", "f", `{"x":1}`, "toolu_b", "g", `{"y":2}`),
		}, ""},
		{"whole_input", engine.Reply{
			ID: "msg_01", Model: sonnet, Stop: engine.ToolUse, Usage: engine.Tokens{Input: 25, Output: 5},
			Calls: calltest.Calls("toolu_01", "find", `{"n":12345678901234567891}`),
		}, ""},
		{"cache", engine.Reply{ID: "msg_01", Model: sonnet, Text: "x", Stop: engine.EndTurn, Usage: engine.Tokens{Input: 1034, Output: 1, Cached: 1000, CacheWrite: 30}}, ""},
		{"refusal", engine.Reply{ID: "msg_01", Model: sonnet, Text: "I", Stop: engine.Refusal, Usage: engine.Tokens{Input: 25, Output: 3}}, ""},
		{"stop_sequence", engine.Reply{ID: "msg_01", Model: sonnet, Text: "up to", Stop: engine.StopSequence, Usage: engine.Tokens{Input: 25, Output: 3}}, ""},
		{"context_full", engine.Reply{ID: "msg_01", Model: sonnet, Text: "and so", Stop: engine.MaxTokens, Usage: engine.Tokens{Input: 25, Output: 3}}, ""},
		{"empty", engine.Reply{ID: "msg_01", Model: sonnet, Stop: engine.EndTurn, Usage: engine.Tokens{Input: 25, Output: 2}}, ""},
		{"unknown", engine.Reply{ID: "msg_01", Model: sonnet, Text: "Moss.", Stop: engine.EndTurn, Usage: engine.Tokens{Input: 25, Output: 4}}, ""},
	}
	for _, tt := range tests {
		t.Run(tt.file, func(t *testing.T) {
			m := at(t, calltest.Replay(t, "text/event-stream", recorded(t, tt.file+".sse")), defaults(), engine.ModelSettings{Model: "m"})
			got := calltest.Hear(t, m, question)
			if diff := cmp.Diff(&tt.want, got.Reply, ignored); diff != "" {
				t.Error(diff)
			}
			if got.Text != tt.want.Text || got.Reasoning != tt.reasoning {
				t.Errorf("deltas %q, reasoning %q", got.Text, got.Reasoning)
			}
		})
	}
}

func TestWholeAnswersAreThoseOfStreams(t *testing.T) {
	for _, name := range []string{"text", "tools", "thinking_tools", "refusal_silent"} {
		t.Run(name, func(t *testing.T) {
			stream := at(t, calltest.Replay(t, "text/event-stream", recorded(t, name+".sse")), defaults(), engine.ModelSettings{})
			want, err := stream.Generate(t.Context(), question, func(engine.Delta) {})
			if err != nil {
				t.Fatal(err)
			}
			got, err := at(t, calltest.Replay(t, "application/json", recorded(t, name+".json")), defaults(), engine.ModelSettings{}).Generate(t.Context(), question, nil)
			if err != nil {
				t.Fatal(err)
			}
			compact := cmp.Transformer("compact", func(c engine.ToolCall) []string {
				var args any
				if err := json.Unmarshal(c.Args, &args); err != nil {
					t.Error(err)
				}
				return []string{c.ID, c.Name, fmt.Sprint(args), string(c.Opaque)}
			})
			if diff := cmp.Diff(want, got, cmpopts.IgnoreFields(engine.Reply{}, "Latency", "FirstToken"), compact); diff != "" {
				t.Error(diff)
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
		{"bad_no_stop", engine.Truncated, "message_stop"},
		{"bad_overloaded", engine.Overloaded, "Overloaded by [redacted]"},
		{"bad_error_kind", engine.RateLimited, "slow down"},
		{"bad_error_text", engine.ServerError, "upstream is gone"},
		{"bad_json", engine.BadReply, "cannot be read"},
		{"bad_unbegun", engine.BadReply, "block 3, which was not begun"},
		{"bad_nameless_call", engine.BadReply, "has no name"},
		{"bad_pause", engine.BadReply, "paused"},
	}
	for _, tt := range tests {
		t.Run(tt.file, func(t *testing.T) {
			streams.Broken(t, recorded(t, tt.file+".sse"), tt.kind, tt.text)
		})
	}
}

func TestEveryCutOfAStreamIsAnErrorOrTheWholeReply(t *testing.T) {
	for _, file := range []string{"text", "interleaved", "thinking_tools"} {
		t.Run(file, func(t *testing.T) { streams.Cuts(t, recorded(t, file+".sse")) })
	}
}

func TestForcedToolIsStreamedAsText(t *testing.T) {
	stream := strings.ReplaceAll(string(recorded(t, "tools.sse")), "get_weather", "reply")
	c := defaults()
	c.StructuredOutput = "tool"
	req := *question
	req.Schema = &engine.ReplySchema{Schema: json.RawMessage(anything)}
	var text strings.Builder
	got, err := at(t, calltest.Replay(t, "text/event-stream", []byte(stream)), c, engine.ModelSettings{}).Generate(t.Context(), &req, func(d engine.Delta) { text.WriteString(d.Text) })
	if err != nil {
		t.Fatal(err)
	}
	want := `{"location": "San Francisco, CA"}`
	if got.Text != want || text.String() != want || len(got.Calls) != 0 || got.Stop != engine.EndTurn {
		t.Errorf("reply %+v, deltas %q", got, text.String())
	}
}

func TestServerThatDoesNotStreamIsUnderstood(t *testing.T) {
	m := at(t, calltest.Replay(t, "application/json", recorded(t, "ollama.json")), defaults(), engine.ModelSettings{})
	var deltas []string
	got, err := m.Generate(t.Context(), question, func(d engine.Delta) { deltas = append(deltas, d.Text) })
	if err != nil || got.Text != "Moss is green." || fmt.Sprint(deltas) != "[Moss is green.]" {
		t.Errorf("reply %+v, deltas %v, error %v", got, deltas, err)
	}
}

func TestPageInPlaceOfAStreamIsNoReply(t *testing.T) { streams.Page(t) }

func FuzzStream(f *testing.F) { streams.Fuzz(f, "recorded") }
