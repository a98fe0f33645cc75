package openai_test

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

// replay serves one recorded stream.
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
	text, err := os.ReadFile(filepath.Join("testdata", "stream", name+".sse"))
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
		{"interleaved", engine.Reply{ID: "i", Model: "m", Calls: calls("call_a", "f", `{"x":1}`, "call_b", "g", `{"y":2}`), Stop: engine.ToolUse}, ""},
		{"repeated_type", engine.Reply{Calls: calls("call_a", "f", `{"x":1}`), Stop: engine.ToolUse}, ""},
		{"name_in_pieces", engine.Reply{Calls: calls("call_a", "get_weather", `{}`), Stop: engine.ToolUse}, ""},
		{"empty_arguments", engine.Reply{Calls: calls("call_a", "now", `{}`), Stop: engine.ToolUse}, ""},
		{"no_index", engine.Reply{Calls: calls("call_a", "f", `{"x":1}`, "call_b", "f", `{"x":2}`), Stop: engine.ToolUse}, ""},
		{"no_index_no_id", engine.Reply{Calls: calls("call_0", "f", `{"x":1}`, "call_1", "f", `{"x":2}`), Stop: engine.ToolUse}, ""},
		{"same_index", engine.Reply{Calls: calls("call_a", "f", `{"x":1}`, "call_b", "g", `{"y":2}`), Stop: engine.ToolUse}, ""},
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
			m := at(t, replay(t, "text/event-stream", recorded(t, tt.file)), defaults(), engine.ModelSettings{Model: "m"})
			var text, reasoning strings.Builder
			got, err := m.Generate(t.Context(), question, func(d engine.Delta) {
				text.WriteString(d.Text)
				reasoning.WriteString(d.Reasoning)
			})
			if err != nil {
				t.Fatal(err)
			}
			ignore := cmpopts.IgnoreFields(engine.Reply{}, "Latency", "FirstToken")
			if tt.want.Usage.Total() == 0 {
				ignore = cmpopts.IgnoreFields(engine.Reply{}, "Latency", "FirstToken", "Usage", "Estimated")
			}
			if diff := cmp.Diff(&tt.want, got, ignore); diff != "" {
				t.Error(diff)
			}
			if tt.want.Stop != engine.Refusal && text.String() != tt.want.Text || reasoning.String() != tt.reasoning {
				t.Errorf("deltas %q, reasoning %q", text.String(), reasoning.String())
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
			m := at(t, replay(t, "text/event-stream", recorded(t, tt.file)), defaults(), engine.ModelSettings{APIKey: "sk-a-secret"})
			got, err := m.Generate(t.Context(), question, func(engine.Delta) {})
			var e *engine.ModelError
			if got != nil || !errors.As(err, &e) || e.Kind != tt.kind || !strings.Contains(e.Message, tt.text) {
				t.Errorf("reply %+v, error %v", got, err)
			}
		})
	}
}

func TestEveryCutOfAStreamIsAnErrorOrTheWholeReply(t *testing.T) {
	for _, file := range []string{"text", "interleaved", "reasoning"} {
		whole := recorded(t, file)
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

func TestServerThatDoesNotStreamIsUnderstood(t *testing.T) {
	text := `{"id": "x", "choices": [{"index": 0, "message": {"role": "assistant", "content": "whole"}, "finish_reason": "stop"}]}`
	m := at(t, replay(t, "application/json", []byte(text)), defaults(), engine.ModelSettings{})
	var deltas []string
	got, err := m.Generate(t.Context(), question, func(d engine.Delta) { deltas = append(deltas, d.Text) })
	if err != nil || got.Text != "whole" || fmt.Sprint(deltas) != "[whole]" {
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
	files, err := filepath.Glob(filepath.Join("testdata", "stream", "*.sse"))
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
				if c.Name == "" || c.ID == "" || len(c.Args) == 0 {
					t.Errorf("call %+v", c)
				}
			}
		}
	})
}
