package genai_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/pexctl/pex/engine/model"
	"github.com/pexctl/pex/engine/retry"
	"github.com/pexctl/pex/providers/modelhttp/modelhttptest"
)

// streams are the stream tests of this provider.
var streams = modelhttptest.Streams{Kind: "text/event-stream", New: func(tb testing.TB, set model.Settings) model.Model {
	return at(tb, set.BaseURL, defaults(), set)
}}

func recorded(tb testing.TB, name string) []byte {
	tb.Helper()
	return modelhttptest.ReadRecorded(tb, "recorded/"+name)
}

var question = modelhttptest.Question

// signed adds a thought signature to the first call.
func signed(signature string, list []model.ToolCall) []model.ToolCall {
	list[0].Opaque = json.RawMessage(`{"google_thought_signature":"` + signature + `"}`)
	return list
}

var weather = modelhttptest.Calls("call_0", "weather", `{"city":"Oslo","days":3}`, "call_1", "weather", `{"city":"Lima","days":1}`)

func TestStreamsAreRead(t *testing.T) {
	tests := []struct {
		file      string
		want      model.Reply
		reasoning string
	}{
		{"text", model.Reply{
			ID: "r-1", Model: "gemini-2.5-flash", Text: "Moss is green.", Stop: model.EndTurn, Usage: model.Tokens{Input: 19, Output: 4, Cached: 8},
		}, ""},
		{"thinking", model.Reply{
			Text: "Green.", Stop: model.EndTurn, Usage: model.Tokens{Input: 10, Output: 32, Reasoning: 30},
		}, "**Colours**\n\nGreen or brown?"},
		{"parallel_calls", model.Reply{
			Model: "gemini-3-pro-preview", Stop: model.ToolUse, Usage: model.Tokens{Input: 55, Output: 40, Reasoning: 20},
			Calls: signed("c2lnbmVkIG9uY2U=", modelhttptest.Calls(
				"q1", "find", `{"q":"moss","id":12345678901234567890,"a":[1.0,{}]}`, "q2", "find", `{"q":"fern"}`, "call_0", "clock", `{}`)),
		}, "Both at once."},
		{"max_tokens", model.Reply{Text: "Moss is", Stop: model.MaxTokens, Usage: model.Tokens{Input: 4, Output: 2}}, ""},
		{"early_usage", model.Reply{Text: "Moss.", Stop: model.EndTurn, Usage: model.Tokens{Input: 4, Output: 2}}, ""},
		{"recitation", model.Reply{Text: "It is said", Stop: model.ContentFiltered}, ""},
		{"blocked_prompt", model.Reply{
			Model: "gemini-2.5-flash", Text: "the prompt was blocked (PROHIBITED_CONTENT)", Stop: model.ContentFiltered, Usage: model.Tokens{Input: 7},
		}, ""},
		{"second_candidate", model.Reply{Text: "one", Stop: model.EndTurn}, ""},
		{"proxy", model.Reply{Text: "whole", Stop: model.EndTurn}, ""},
		{"aimock_text", model.Reply{
			Text: "One sentence, which is long enough.", Stop: model.EndTurn, Usage: model.Tokens{Input: 9, Output: 7},
		}, "What do I say?"},
		{"aimock_tools", model.Reply{Text: "I look.", Calls: weather, Stop: model.ToolUse}, ""},
	}
	for _, tt := range tests {
		t.Run(tt.file, func(t *testing.T) {
			m := at(t, modelhttptest.Replay(t, "text/event-stream", recorded(t, tt.file+".sse")), defaults(), model.Settings{Model: "m"})
			got := modelhttptest.ReadStream(t, m, question)
			if diff := cmp.Diff(&tt.want, got.Reply, unmeasured(tt.want)); diff != "" {
				t.Error(diff)
			}
			if tt.file != "blocked_prompt" && got.Text != tt.want.Text || got.Reasoning != tt.reasoning {
				t.Errorf("deltas %q, reasoning %q", got.Text, got.Reasoning)
			}
			if (got.Reply.FirstToken > 0) != (len(got.Text)+len(got.Reasoning)+len(got.Reply.Calls) > 0) {
				t.Errorf("first token after %v", got.Reply.FirstToken)
			}
		})
	}
}

// unmeasured ignores the fields that differ between runs, and estimated usage.
func unmeasured(want model.Reply) cmp.Option {
	if want.Usage.Total() == 0 {
		return cmpopts.IgnoreFields(model.Reply{}, "Latency", "FirstToken", "Usage", "Estimated", "Uncounted")
	}
	return cmpopts.IgnoreFields(model.Reply{}, "Latency", "FirstToken")
}

func TestWholeRepliesAreRead(t *testing.T) {
	want := model.Reply{Text: "I look.", Calls: weather, Stop: model.ToolUse}
	got, err := at(t, modelhttptest.Replay(t, "application/json", recorded(t, "aimock_tools.json")), defaults(), model.Settings{}).Generate(t.Context(), question, nil)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(&want, got, unmeasured(want)); diff != "" {
		t.Error(diff)
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
		{"bad_other", model.ServerError, "OTHER"},
		{"bad_malformed_call", model.BadReply, "MALFORMED_FUNCTION_CALL: Malformed function call: print(find(q="},
		{"bad_new_reason", model.BadReply, "SOMETHING_NEW"},
		{"bad_json", model.BadReply, "cannot be read"},
		{"bad_candidates", model.BadReply, "cannot be read"},
		{"bad_text", model.BadReply, "cannot be read"},
		{"bad_nameless_call", model.BadReply, "has no name"},
	}
	for _, tt := range tests {
		t.Run(tt.file, func(t *testing.T) {
			e := streams.RejectStream(t, recorded(t, tt.file+".sse"), tt.kind, tt.text)
			if tt.file == "bad_error_status" && e.RetryAfter != 2500*time.Millisecond {
				t.Errorf("wait %v", e.RetryAfter)
			}
		})
	}
}

func TestMalformedCallIsRetried(t *testing.T) {
	answers := [][]byte{recorded(t, "bad_malformed_call.sse"), recorded(t, "parallel_calls.sse")}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = w.Write(answers[0])
		answers = answers[1:]
	}))
	defer s.Close()
	got, err := at(t, s.URL, defaults(), model.Settings{Retry: retry.Policy{MaxAttempts: 2}}).Generate(t.Context(), question, func(model.Delta) {})
	if err != nil || got.Attempts != 2 || len(got.Calls) != 3 {
		t.Errorf("reply %+v, error %v", got, err)
	}
}

func TestTruncatedStreams(t *testing.T) {
	for _, file := range []string{"text", "parallel_calls", "thinking", "proxy"} {
		t.Run(file, func(t *testing.T) { streams.CheckTruncations(t, recorded(t, file+".sse")) })
	}
}

// Cancellation ends the stream even if all of it has already arrived.
func TestCancelByTheReader(t *testing.T) {
	for _, tt := range []struct {
		name, file string
		last       int
	}{
		{"at the first delta", "text", 1},
		{"before an event without delta", "text", 2},
		{"at the last event", "max_tokens", 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			m := at(t, modelhttptest.Replay(t, "text/event-stream", recorded(t, tt.file+".sse")), defaults(), model.Settings{})
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			n := 0
			got, err := m.Generate(ctx, question, func(model.Delta) {
				if n++; n == tt.last {
					cancel()
				}
			})
			if got != nil || !errors.Is(err, context.Canceled) || n != tt.last {
				t.Errorf("reply %+v, error %v, %d deltas", got, err, n)
			}
		})
	}
}

func TestServersWithoutStreaming(t *testing.T) {
	piece := `{"candidates": [{"content": {"parts": [{"text": %q}]}%s}]}`
	end := `, "finishReason": "STOP"`
	tests := []struct{ name, body, deltas string }{
		{"one reply", fmt.Sprintf(piece, "whole", end), "[whole]"},
		{"the list that the API streams without alt=sse", "[" + fmt.Sprintf(piece, "in ", "") + ",\r\n" + fmt.Sprintf(piece, "pieces", end) + "]", "[in  pieces]"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			m := at(t, modelhttptest.Replay(t, "application/json; charset=UTF-8", []byte(tt.body)), defaults(), model.Settings{})
			var deltas []string
			got, err := m.Generate(t.Context(), question, func(d model.Delta) { deltas = append(deltas, d.Text) })
			if err != nil || got.Text != strings.Join(deltas, "") || fmt.Sprint(deltas) != tt.deltas {
				t.Errorf("reply %+v, deltas %v, error %v", got, deltas, err)
			}
		})
	}
}

func TestHTMLInsteadOfStream(t *testing.T) { streams.CheckHTML(t) }

func FuzzStream(f *testing.F) { streams.Fuzz(f, "recorded") }
