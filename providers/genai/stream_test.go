package genai_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/pexctl/pex/engine"
)

// replay serves one recorded answer.
func replay(t testing.TB, kind string, text []byte) string {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", kind)
		_, _ = w.Write(text)
	}))
	t.Cleanup(s.Close)
	return s.URL
}

func recorded(t testing.TB, name string) []byte {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", "recorded", name))
	if err != nil {
		t.Fatal(err)
	}
	return text
}

var question = &engine.Request{Messages: []engine.Message{{Role: engine.User, Text: engine.Text{"How many?"}}}}

func calls(idNameArgs ...string) []engine.ToolCall {
	var out []engine.ToolCall
	for i := 0; i < len(idNameArgs); i += 3 {
		out = append(out, engine.ToolCall{ID: idNameArgs[i], Name: idNameArgs[i+1], Args: json.RawMessage(idNameArgs[i+2])})
	}
	return out
}

// signed is calls of which the first has a thought signature.
func signed(signature string, list []engine.ToolCall) []engine.ToolCall {
	list[0].Opaque = json.RawMessage(`{"google_thought_signature":"` + signature + `"}`)
	return list
}

var weather = calls("call_0", "weather", `{"city":"Oslo","days":3}`, "call_1", "weather", `{"city":"Lima","days":1}`)

func TestStreamsAreRead(t *testing.T) {
	tests := []struct {
		file      string
		want      engine.Reply
		reasoning string
	}{
		{"text", engine.Reply{
			ID: "r-1", Model: "gemini-2.5-flash", Text: "Moss is green.", Stop: engine.EndTurn, Usage: engine.Tokens{Input: 19, Output: 4, Cached: 8},
		}, ""},
		{"thinking", engine.Reply{
			Text: "Green.", Stop: engine.EndTurn, Usage: engine.Tokens{Input: 10, Output: 32, Reasoning: 30},
		}, "**Colours**\n\nGreen or brown?"},
		{"parallel_calls", engine.Reply{
			Model: "gemini-3-pro-preview", Stop: engine.ToolUse, Usage: engine.Tokens{Input: 55, Output: 40, Reasoning: 20},
			Calls: signed("c2lnbmVkIG9uY2U=", calls(
				"q1", "find", `{"q":"moss","id":12345678901234567890,"a":[1.0,{}]}`, "q2", "find", `{"q":"fern"}`, "call_0", "clock", `{}`)),
		}, "Both at once."},
		{"max_tokens", engine.Reply{Text: "Moss is", Stop: engine.MaxTokens, Usage: engine.Tokens{Input: 4, Output: 2}}, ""},
		{"early_usage", engine.Reply{Text: "Moss.", Stop: engine.EndTurn, Usage: engine.Tokens{Input: 4, Output: 2}}, ""},
		{"recitation", engine.Reply{Text: "It is said", Stop: engine.ContentFiltered}, ""},
		{"blocked_prompt", engine.Reply{
			Model: "gemini-2.5-flash", Text: "the prompt was blocked (PROHIBITED_CONTENT)", Stop: engine.ContentFiltered, Usage: engine.Tokens{Input: 7},
		}, ""},
		{"second_candidate", engine.Reply{Text: "one", Stop: engine.EndTurn}, ""},
		{"proxy", engine.Reply{Text: "whole", Stop: engine.EndTurn}, ""},
		{"aimock_text", engine.Reply{
			Text: "One sentence, which is long enough.", Stop: engine.EndTurn, Usage: engine.Tokens{Input: 9, Output: 7},
		}, "What do I say?"},
		{"aimock_tools", engine.Reply{Text: "I look.", Calls: weather, Stop: engine.ToolUse}, ""},
	}
	for _, tt := range tests {
		t.Run(tt.file, func(t *testing.T) {
			m := at(t, replay(t, "text/event-stream", recorded(t, tt.file+".sse")), defaults(), engine.ModelSettings{Model: "m"})
			var text, reasoning strings.Builder
			got, err := m.Generate(t.Context(), question, func(d engine.Delta) {
				text.WriteString(d.Text)
				reasoning.WriteString(d.Reasoning)
			})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(&tt.want, got, unmeasured(tt.want)); diff != "" {
				t.Error(diff)
			}
			if tt.file != "blocked_prompt" && text.String() != tt.want.Text || reasoning.String() != tt.reasoning {
				t.Errorf("deltas %q, reasoning %q", text.String(), reasoning.String())
			}
			if (got.FirstToken > 0) != (text.Len()+reasoning.Len()+len(got.Calls) > 0) {
				t.Errorf("first token after %v", got.FirstToken)
			}
		})
	}
}

// unmeasured leaves out what differs from run to run, and usage that is estimated.
func unmeasured(want engine.Reply) cmp.Option {
	if want.Usage.Total() == 0 {
		return cmpopts.IgnoreFields(engine.Reply{}, "Latency", "FirstToken", "Usage", "Estimated")
	}
	return cmpopts.IgnoreFields(engine.Reply{}, "Latency", "FirstToken")
}

func TestWholeRepliesAreRead(t *testing.T) {
	want := engine.Reply{Text: "I look.", Calls: weather, Stop: engine.ToolUse}
	got, err := at(t, replay(t, "application/json", recorded(t, "aimock_tools.json")), defaults(), engine.ModelSettings{}).Generate(t.Context(), question, nil)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(&want, got, unmeasured(want)); diff != "" {
		t.Error(diff)
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
		{"bad_other", engine.ServerError, "OTHER"},
		{"bad_malformed_call", engine.BadReply, "MALFORMED_FUNCTION_CALL: Malformed function call: print(find(q="},
		{"bad_new_reason", engine.BadReply, "SOMETHING_NEW"},
		{"bad_json", engine.BadReply, "cannot be read"},
		{"bad_candidates", engine.BadReply, "cannot be read"},
		{"bad_text", engine.BadReply, "cannot be read"},
		{"bad_nameless_call", engine.BadReply, "has no name"},
	}
	for _, tt := range tests {
		t.Run(tt.file, func(t *testing.T) {
			m := at(t, replay(t, "text/event-stream", recorded(t, tt.file+".sse")), defaults(), engine.ModelSettings{APIKey: "sk-a-secret"})
			got, err := m.Generate(t.Context(), question, func(engine.Delta) {})
			var e *engine.ModelError
			if got != nil || !errors.As(err, &e) || e.Kind != tt.kind || !strings.Contains(e.Message, tt.text) {
				t.Fatalf("reply %+v, error %v", got, err)
			}
			if tt.file == "bad_error_status" && e.RetryAfter != 2500*time.Millisecond {
				t.Errorf("wait %v", e.RetryAfter)
			}
		})
	}
}

func TestACallThatTheModelMissedIsAskedForAgain(t *testing.T) {
	answers := [][]byte{recorded(t, "bad_malformed_call.sse"), recorded(t, "parallel_calls.sse")}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = w.Write(answers[0])
		answers = answers[1:]
	}))
	defer s.Close()
	got, err := at(t, s.URL, defaults(), engine.ModelSettings{Retry: engine.RetryPolicy{MaxAttempts: 2}}).Generate(t.Context(), question, func(engine.Delta) {})
	if err != nil || got.Attempts != 2 || len(got.Calls) != 3 {
		t.Errorf("reply %+v, error %v", got, err)
	}
}

func TestEveryCutOfAStreamIsAnErrorOrTheWholeReply(t *testing.T) {
	for _, file := range []string{"text", "parallel_calls", "thinking", "proxy"} {
		whole := recorded(t, file+".sse")
		var cut []byte
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/event-stream")
			_, _ = w.Write(cut)
		}))
		m := at(t, s.URL, defaults(), engine.ModelSettings{})
		cut = whole
		want, err := m.Generate(t.Context(), question, func(engine.Delta) {})
		if err != nil {
			t.Fatal(err)
		}
		for n := range whole {
			cut = whole[:n]
			got, err := m.Generate(t.Context(), question, func(engine.Delta) {})
			var e *engine.ModelError
			switch {
			case err == nil && got.Text == want.Text && len(got.Calls) == len(want.Calls):
			case errors.As(err, &e) && e.Kind == engine.Truncated:
			default:
				t.Fatalf("%s cut at %d: reply %+v, error %v", file, n, got, err)
			}
		}
		s.Close()
	}
}

// A stream that is there already ends where its reader says so.
func TestCancelByWhoReadsTheStreamIsAnError(t *testing.T) {
	for _, tt := range []struct {
		name, file string
		last       int
	}{
		{"at the first delta", "text", 1},
		{"before an event without delta", "text", 2},
		{"at the last event", "max_tokens", 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			m := at(t, replay(t, "text/event-stream", recorded(t, tt.file+".sse")), defaults(), engine.ModelSettings{})
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			n := 0
			got, err := m.Generate(ctx, question, func(engine.Delta) {
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

func TestServersThatDoNotStreamAreUnderstood(t *testing.T) {
	piece := `{"candidates": [{"content": {"parts": [{"text": %q}]}%s}]}`
	end := `, "finishReason": "STOP"`
	tests := []struct{ name, body, deltas string }{
		{"one reply", fmt.Sprintf(piece, "whole", end), "[whole]"},
		{"the list that the API streams without alt=sse", "[" + fmt.Sprintf(piece, "in ", "") + ",\r\n" + fmt.Sprintf(piece, "pieces", end) + "]", "[in  pieces]"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			m := at(t, replay(t, "application/json; charset=UTF-8", []byte(tt.body)), defaults(), engine.ModelSettings{})
			var deltas []string
			got, err := m.Generate(t.Context(), question, func(d engine.Delta) { deltas = append(deltas, d.Text) })
			if err != nil || got.Text != strings.Join(deltas, "") || fmt.Sprint(deltas) != tt.deltas {
				t.Errorf("reply %+v, deltas %v, error %v", got, deltas, err)
			}
		})
	}
}

func TestPageInPlaceOfAStreamIsNoReply(t *testing.T) {
	m := at(t, replay(t, "text/html", []byte("<html>sign in</html>")), defaults(), engine.ModelSettings{})
	_, err := m.Generate(t.Context(), question, func(engine.Delta) {})
	var e *engine.ModelError
	if !errors.As(err, &e) || e.Kind != engine.BadReply || !strings.Contains(e.Message, "text/html") {
		t.Errorf("error %v", err)
	}
}

func FuzzStream(f *testing.F) {
	files, err := filepath.Glob(filepath.Join("testdata", "recorded", "*.sse"))
	if err != nil {
		f.Fatal(err)
	}
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text)
	}
	f.Add([]byte("data: " + strings.Repeat("[", 20000) + "\n\n"))
	var text []byte
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		if r.URL.Query().Get("alt") == "sse" {
			w.Header().Set("Content-Type", "text/event-stream")
		}
		_, _ = w.Write(text)
	}))
	f.Cleanup(s.Close)
	m := at(f, s.URL, defaults(), engine.ModelSettings{})
	f.Fuzz(func(t *testing.T, in []byte) {
		text = in
		for _, stream := range []func(engine.Delta){nil, func(engine.Delta) {}} {
			got, err := m.Generate(t.Context(), question, stream)
			var e *engine.ModelError
			if (got == nil) == (err == nil) || err != nil && !errors.As(err, &e) {
				t.Errorf("reply %+v, error %v", got, err)
			}
			if got == nil {
				continue
			}
			for _, c := range got.Calls {
				if c.Name == "" || c.ID == "" || len(c.Args) == 0 || len(c.Opaque) > 0 && !json.Valid(c.Opaque) {
					t.Errorf("call %+v", c)
				}
			}
		}
	})
}
