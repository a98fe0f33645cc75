package anthropic_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

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
			Calls: calls("toolu_01", "get_weather", `{"location": "San Francisco, CA"}`, "toolu_02", "now", `{}`),
		}, ""},
		{"thinking_tools", engine.Reply{
			ID: "msg_01", Model: sonnet, Text: "I look.", Stop: engine.ToolUse, Usage: engine.Tokens{Input: 100, Output: 60, Reasoning: 40},
			Calls: calls("toolu_01", "get_weather", `{"q":"Rome"}`, "toolu_02", "now", `{}`),
		}, "Which town? The nearest.And the time?"},
		{"interleaved", engine.Reply{
			ID: "msg_01", Model: sonnet, Stop: engine.ToolUse, Usage: engine.Tokens{Input: 25, Output: 9},
			Calls: calls("toolu_a", "f", `{"x":1}`, "toolu_b", "g", `{"y":2}`),
		}, ""},
		{"whole_input", engine.Reply{
			ID: "msg_01", Model: sonnet, Stop: engine.ToolUse, Usage: engine.Tokens{Input: 25, Output: 5},
			Calls: calls("toolu_01", "find", `{"n":12345678901234567891}`),
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
			m := at(t, replay(t, "text/event-stream", recorded(t, tt.file+".sse")), defaults(), engine.ModelSettings{Model: "m"})
			var text, reasoning strings.Builder
			got, err := m.Generate(t.Context(), question, func(d engine.Delta) {
				text.WriteString(d.Text)
				reasoning.WriteString(d.Reasoning)
			})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(&tt.want, got, ignored); diff != "" {
				t.Error(diff)
			}
			if text.String() != tt.want.Text || reasoning.String() != tt.reasoning {
				t.Errorf("deltas %q, reasoning %q", text.String(), reasoning.String())
			}
		})
	}
}

func TestWholeAnswersAreThoseOfStreams(t *testing.T) {
	for _, name := range []string{"text", "tools", "thinking_tools", "refusal_silent"} {
		t.Run(name, func(t *testing.T) {
			stream := at(t, replay(t, "text/event-stream", recorded(t, name+".sse")), defaults(), engine.ModelSettings{})
			want, err := stream.Generate(t.Context(), question, func(engine.Delta) {})
			if err != nil {
				t.Fatal(err)
			}
			got, err := at(t, replay(t, "application/json", recorded(t, name+".json")), defaults(), engine.ModelSettings{}).Generate(t.Context(), question, nil)
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
			m := at(t, replay(t, "text/event-stream", recorded(t, tt.file+".sse")), defaults(), engine.ModelSettings{APIKey: "sk-ant-a-secret"})
			got, err := m.Generate(t.Context(), question, func(engine.Delta) {})
			var e *engine.ModelError
			if got != nil || !errors.As(err, &e) || e.Kind != tt.kind || !strings.Contains(e.Message, tt.text) {
				t.Errorf("reply %+v, error %v", got, err)
			}
		})
	}
}

func TestEveryCutOfAStreamIsAnErrorOrTheWholeReply(t *testing.T) {
	for _, file := range []string{"text", "interleaved", "thinking_tools"} {
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

func TestForcedToolIsStreamedAsText(t *testing.T) {
	stream := strings.ReplaceAll(string(recorded(t, "tools.sse")), "get_weather", "reply")
	c := defaults()
	c.StructuredOutput = "tool"
	req := *question
	req.Schema = &engine.ReplySchema{Schema: json.RawMessage(anything)}
	var text strings.Builder
	got, err := at(t, replay(t, "text/event-stream", []byte(stream)), c, engine.ModelSettings{}).Generate(t.Context(), &req, func(d engine.Delta) { text.WriteString(d.Text) })
	if err != nil {
		t.Fatal(err)
	}
	want := `{"location": "San Francisco, CA"}`
	if got.Text != want || text.String() != want || len(got.Calls) != 0 || got.Stop != engine.EndTurn {
		t.Errorf("reply %+v, deltas %q", got, text.String())
	}
}

func TestServerThatDoesNotStreamIsUnderstood(t *testing.T) {
	m := at(t, replay(t, "application/json", recorded(t, "ollama.json")), defaults(), engine.ModelSettings{})
	var deltas []string
	got, err := m.Generate(t.Context(), question, func(d engine.Delta) { deltas = append(deltas, d.Text) })
	if err != nil || got.Text != "Moss is green." || fmt.Sprint(deltas) != "[Moss is green.]" {
		t.Errorf("reply %+v, deltas %v, error %v", got, deltas, err)
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
	if err != nil || len(files) == 0 {
		f.Fatal(err)
	}
	for _, name := range files {
		f.Add(recorded(f, filepath.Base(name)))
	}
	f.Add([]byte("data: " + strings.Repeat("[", 20000) + "\n\n"))
	var text []byte
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = w.Write(text)
	}))
	f.Cleanup(s.Close)
	m := at(f, s.URL, defaults(), engine.ModelSettings{})
	f.Fuzz(func(t *testing.T, in []byte) {
		text = in
		got, err := m.Generate(t.Context(), question, func(engine.Delta) {})
		var e *engine.ModelError
		if (got == nil) == (err == nil) || err != nil && !errors.As(err, &e) {
			t.Errorf("reply %+v, error %v", got, err)
		}
		if got != nil {
			for _, c := range got.Calls {
				if c.Name == "" || c.ID == "" || len(c.Args) == 0 || len(c.Opaque) > 0 && !json.Valid(c.Opaque) {
					t.Errorf("call %+v", c)
				}
			}
		}
	})
}
