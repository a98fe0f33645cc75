package anthropic_test

import (
	"encoding/json"
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
	return modelhttptest.ReadRecorded(tb, "recorded/"+name)
}

var question = modelhttptest.Question

// ignored has the fields that differ between calls, or have their own tests.
var ignored = cmp.Options{
	cmpopts.IgnoreFields(model.Reply{}, "Latency", "FirstToken"),
	cmpopts.IgnoreFields(model.ToolCall{}, "Opaque"),
}

func TestRecordedStreams(t *testing.T) {
	const sonnet = "claude-sonnet-4-6"
	moss := model.Reply{ID: "msg_01", Model: sonnet, Text: "Moss is green.", Stop: model.EndTurn, Usage: model.Tokens{Input: 25, Output: 15}}
	tests := []struct {
		file      string
		want      model.Reply
		reasoning string
	}{
		{"text", moss, ""},
		{"nameless_events", moss, ""},
		{"late_usage", moss, ""},
		{"tools", model.Reply{
			ID: "msg_01", Model: sonnet, Text: "Okay, let me check.", Stop: model.ToolUse, Usage: model.Tokens{Input: 472, Output: 89},
			Calls: modelhttptest.Calls("toolu_01", "get_weather", `{"location": "San Francisco, CA"}`, "toolu_02", "now", `{}`),
		}, ""},
		{"thinking_tools", model.Reply{
			ID: "msg_01", Model: sonnet, Text: "I look.", Stop: model.ToolUse, Usage: model.Tokens{Input: 100, Output: 60, Reasoning: 40},
			Calls: modelhttptest.Calls("toolu_01", "get_weather", `{"q":"Rome"}`, "toolu_02", "now", `{}`),
		}, "Which town? The nearest.And the time?"},
		{"interleaved", model.Reply{
			ID: "msg_01", Model: sonnet, Stop: model.ToolUse, Usage: model.Tokens{Input: 25, Output: 9},
			Calls: modelhttptest.Calls("toolu_a", "f", `{"x":1}`, "toolu_b", "g", `{"y":2}`),
		}, ""},
		{"whole_input", model.Reply{
			ID: "msg_01", Model: sonnet, Stop: model.ToolUse, Usage: model.Tokens{Input: 25, Output: 5},
			Calls: modelhttptest.Calls("toolu_01", "find", `{"n":12345678901234567891}`),
		}, ""},
		{"cache", model.Reply{ID: "msg_01", Model: sonnet, Text: "x", Stop: model.EndTurn, Usage: model.Tokens{Input: 1034, Output: 1, Cached: 1000, CacheWrite: 30}}, ""},
		{"refusal", model.Reply{ID: "msg_01", Model: sonnet, Text: "I", Stop: model.Refusal, Usage: model.Tokens{Input: 25, Output: 3}}, ""},
		{"stop_sequence", model.Reply{ID: "msg_01", Model: sonnet, Text: "up to", Stop: model.StopSequence, Usage: model.Tokens{Input: 25, Output: 3}}, ""},
		{"context_full", model.Reply{ID: "msg_01", Model: sonnet, Text: "and so", Stop: model.MaxTokens, Usage: model.Tokens{Input: 25, Output: 3}}, ""},
		{"empty", model.Reply{ID: "msg_01", Model: sonnet, Stop: model.EndTurn, Usage: model.Tokens{Input: 25, Output: 2}}, ""},
		{"unknown", model.Reply{ID: "msg_01", Model: sonnet, Text: "Moss.", Stop: model.EndTurn, Usage: model.Tokens{Input: 25, Output: 4}}, ""},
	}
	for _, tt := range tests {
		t.Run(tt.file, func(t *testing.T) {
			m := at(t, modelhttptest.Replay(t, "text/event-stream", recorded(t, tt.file+".sse")), defaults(), model.Settings{Model: "m"})
			got := modelhttptest.ReadStream(t, m, question)
			if diff := cmp.Diff(&tt.want, got.Reply, ignored); diff != "" {
				t.Error(diff)
			}
			if got.Text != tt.want.Text || got.Reasoning != tt.reasoning {
				t.Errorf("deltas %q, reasoning %q", got.Text, got.Reasoning)
			}
		})
	}
}

func TestWholeRepliesEqualStreamedOnes(t *testing.T) {
	for _, name := range []string{"text", "tools", "thinking_tools", "refusal_silent"} {
		t.Run(name, func(t *testing.T) {
			stream := at(t, modelhttptest.Replay(t, "text/event-stream", recorded(t, name+".sse")), defaults(), model.Settings{})
			want, err := stream.Generate(t.Context(), question, func(model.Delta) {})
			if err != nil {
				t.Fatal(err)
			}
			got, err := at(t, modelhttptest.Replay(t, "application/json", recorded(t, name+".json")), defaults(), model.Settings{}).Generate(t.Context(), question, nil)
			if err != nil {
				t.Fatal(err)
			}
			compact := cmp.Transformer("compact", func(c model.ToolCall) []string {
				var args any
				if err := json.Unmarshal(c.Args, &args); err != nil {
					t.Error(err)
				}
				return []string{c.ID, c.Name, fmt.Sprint(args), string(c.Opaque)}
			})
			if diff := cmp.Diff(want, got, cmpopts.IgnoreFields(model.Reply{}, "Latency", "FirstToken"), compact); diff != "" {
				t.Error(diff)
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
		{"bad_no_stop", model.Truncated, "message_stop"},
		{"bad_overloaded", model.Overloaded, "Overloaded by [redacted]"},
		{"bad_error_kind", model.RateLimited, "slow down"},
		{"bad_error_text", model.ServerError, "upstream is gone"},
		{"bad_json", model.BadReply, "cannot be read"},
		{"bad_unbegun", model.BadReply, "block 3, which has not started"},
		{"bad_nameless_call", model.BadReply, "has no name"},
		{"bad_pause", model.BadReply, "paused"},
	}
	for _, tt := range tests {
		t.Run(tt.file, func(t *testing.T) {
			streams.RejectStream(t, recorded(t, tt.file+".sse"), tt.kind, tt.text)
		})
	}
}

func TestTruncatedStreamIsAnErrorOrTheWholeReply(t *testing.T) {
	for _, file := range []string{"text", "interleaved", "thinking_tools"} {
		t.Run(file, func(t *testing.T) { streams.CheckTruncations(t, recorded(t, file+".sse")) })
	}
}

func TestArgumentsOfTheForcedToolAreStreamedAsText(t *testing.T) {
	stream := strings.ReplaceAll(string(recorded(t, "tools.sse")), "get_weather", "reply")
	c := defaults()
	c.StructuredOutput = "tool"
	req := *question
	req.Schema = &model.ReplySchema{Schema: json.RawMessage(anything)}
	var text strings.Builder
	got, err := at(t, modelhttptest.Replay(t, "text/event-stream", []byte(stream)), c, model.Settings{}).Generate(t.Context(), &req, func(d model.Delta) { text.WriteString(d.Text) })
	if err != nil {
		t.Fatal(err)
	}
	want := `{"location": "San Francisco, CA"}`
	if got.Text != want || text.String() != want || len(got.Calls) != 0 || got.Stop != model.EndTurn {
		t.Errorf("reply %+v, deltas %q", got, text.String())
	}
}

func TestReplyThatIsNotStreamedIsAccepted(t *testing.T) {
	m := at(t, modelhttptest.Replay(t, "application/json", recorded(t, "ollama.json")), defaults(), model.Settings{})
	var deltas []string
	got, err := m.Generate(t.Context(), question, func(d model.Delta) { deltas = append(deltas, d.Text) })
	if err != nil || got.Text != "Moss is green." || fmt.Sprint(deltas) != "[Moss is green.]" {
		t.Errorf("reply %+v, deltas %v, error %v", got, deltas, err)
	}
}

func TestHTMLInsteadOfAStreamIsAnError(t *testing.T) { streams.CheckHTML(t) }

func FuzzStream(f *testing.F) { streams.Fuzz(f, "recorded") }
