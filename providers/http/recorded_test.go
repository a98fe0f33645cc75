package http_test

import (
	"encoding/json"
	"errors"
	nethttp "net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/pexctl/pex/engine/model"
	"github.com/pexctl/pex/engine/retry"
	"github.com/pexctl/pex/providers/http"
	"github.com/pexctl/pex/providers/modelhttp/modelhttptest"
)

// serving starts a server that returns one status and body, and counts the requests.
func serving(t testing.TB, status int, kind string, body []byte) (base string, requests *int) {
	t.Helper()
	requests = new(int)
	s := httptest.NewServer(nethttp.HandlerFunc(func(w nethttp.ResponseWriter, _ *nethttp.Request) {
		*requests++
		w.Header().Set("Content-Type", kind)
		w.Header().Set("X-Amzn-Requestid", "q-1")
		w.WriteHeader(status)
		_, _ = w.Write(body)
	}))
	t.Cleanup(s.Close)
	return s.URL, requests
}

// configOf returns the config for the name of a recording.
func configOf(t testing.TB, name string) http.Config {
	t.Helper()
	kind, _, _ := strings.Cut(name, "_")
	switch kind {
	case "chat":
		return of("openai/v1/chat/completions")
	case "converse":
		return of("bedrock/converse/claude")
	case "deepseek":
		return of("bedrock/converse/deepseek_r1")
	case "gemini":
		return of("gemini/v1beta/generatecontent")
	}
	c := defaults()
	c.RequestBody = value(t, `{"inputs": "${args.prompt}"}`)
	switch name {
	case "text_tgi.json":
		c.ResponseFilter = member(0, "generated_text")
	case "text_blocks.json":
		c.ResponseFilter = member("content")
	}
	return c
}

var question = &model.Request{
	Messages:      []model.Message{{Role: model.User, Text: model.Text{"How many?"}}},
	ParallelTools: true,
}

// offering returns the question with a tool, if the dialect has tool calls.
func offering(name string) *model.Request {
	req := *question
	if !strings.HasPrefix(name, "text_") && !strings.Contains(name, "_plan.") {
		req.Tools = []model.ToolDef{{Name: "find", Input: json.RawMessage(`{"type":"object"}`)}}
	}
	return &req
}

func carrying(list []model.ToolCall, opaque string) []model.ToolCall {
	list[0].Opaque = json.RawMessage(opaque)
	return list
}

const moss = "Moss is green."

func TestRecordedReplies(t *testing.T) {
	thirty := model.Tokens{Input: 19, Output: 41, Cached: 8, Reasoning: 30}
	estimate := model.Tokens{Input: 3, Output: 4}
	for _, r := range []struct {
		file      string
		want      model.Reply
		reasoning string
	}{
		{"chat_reasoning.json", model.Reply{ID: "chatcmpl-1", Model: "deepseek-reasoner", Text: moss, Stop: model.EndTurn, Usage: thirty}, "Green or brown?"},
		{"chat_parts.json", model.Reply{ID: "chatcmpl-2", Model: "m", Text: moss, Stop: model.EndTurn, Usage: model.Tokens{Input: 8, Output: 4}, Estimated: true, Uncounted: true}, ""},
		{"chat_tools.json", model.Reply{ID: "chatcmpl-3", Model: "m", Stop: model.ToolUse, Usage: model.Tokens{Input: 88, Output: 42}, Calls: modelhttptest.Calls("call_a", "find", `{"q":"moss"}`, "call_b", "find", `{"q":"fern"}`)}, ""},
		{"converse_text.json", model.Reply{ID: "q-1", Text: moss, Stop: model.EndTurn, Usage: model.Tokens{Input: 2119, Output: 41, Cached: 2000, CacheWrite: 100}}, "I need the finder."},
		{"converse_thinking_tools.json", model.Reply{
			ID: "q-1", Text: "I look.", Stop: model.ToolUse, Usage: model.Tokens{Input: 419, Output: 101},
			Calls: carrying(modelhttptest.Calls("tooluse_kZJMlvQmRJ6eAyJE5GIl7Q", "find", `{"q":"moss"}`, "tooluse_2yPz", "clock", `{}`),
				`{"converse_thoughts":{"model":"m-1","blocks":[{"reasoningContent":{"reasoningText":{"text":"I need the finder.","signature":"EuYBCkQYAiJAb3Bx"}}}]}}`),
		}, "I need the finder."},
		{"converse_guardrail.json", model.Reply{ID: "q-1", Text: "Sorry, the model cannot answer this question.", Stop: model.Guardrail, Usage: model.Tokens{Input: 8, Output: 12}, Estimated: true}, ""},
		{"deepseek_tools.json", model.Reply{ID: "q-1", Stop: model.ToolUse, Usage: model.Tokens{Input: 88, Output: 42}, Calls: modelhttptest.Calls("tool_use_IIHBxMgO", "find", `{"q":"moss"}`, "tool_use_x", "find", `{"q":"fern"}`)}, "Which tool?"},
		{"deepseek_answer.json", model.Reply{ID: "q-1", Text: moss, Stop: model.EndTurn, Usage: model.Tokens{Input: 88, Output: 42}}, "Which tool?"},
		{"deepseek_plain.json", model.Reply{ID: "q-1", Text: moss, Stop: model.EndTurn, Usage: model.Tokens{Input: 19, Output: 4}}, "Which tool?"},
		{"deepseek_plan.json", model.Reply{ID: "q-1", Text: `{"steps": ["look at moss"], "result": ""}`, Stop: model.EndTurn, Usage: model.Tokens{Input: 88, Output: 42}}, "Which tool?"},
		{"deepseek_cut.json", model.Reply{ID: "q-1", Text: `{"stop_reason": "tool_use", "tool_calls": [{"id": "tool_u`, Stop: model.MaxTokens, Usage: model.Tokens{Input: 88, Output: 42}}, "Which tool?"},
		{"gemini_thinking.json", model.Reply{ID: "r-1", Model: "gemini-2.5-flash", Text: moss, Stop: model.EndTurn, Usage: thirty}, "Green or brown?"},
		{"gemini_tools.json", model.Reply{
			ID: "r-2", Model: "gemini-3-pro-preview", Stop: model.ToolUse, Usage: thirty,
			Calls: carrying(modelhttptest.Calls("call_0", "find", `{"q":"moss"}`, "call_1", "find", `{"q":"fern"}`), `{"google_thought_signature":"CiEBjz1rX0ilumvPg6k0sMMU"}`),
		}, ""},
		{"gemini_blocked.json", model.Reply{ID: "r-3", Model: "gemini-2.5-flash", Text: "the prompt was blocked: PROHIBITED_CONTENT", Stop: model.ContentFiltered, Usage: model.Tokens{Input: 19}}, ""},
		{"gemini_safety.json", model.Reply{ID: "r-4", Model: "gemini-2.5-flash", Text: "Take the", Stop: model.ContentFiltered, Usage: model.Tokens{Input: 19, Output: 2}}, ""},
		{"text_tgi.json", model.Reply{ID: "q-1", Text: moss, Stop: model.EndTurn, Usage: estimate, Estimated: true, Uncounted: true}, ""},
		{"text_opensearch.json", model.Reply{ID: "q-1", Text: moss, Stop: model.EndTurn, Usage: estimate, Estimated: true, Uncounted: true}, ""},
		{"text_string.json", model.Reply{ID: "q-1", Text: moss, Stop: model.EndTurn, Usage: estimate, Estimated: true, Uncounted: true}, ""},
		{"text_blocks.json", model.Reply{ID: "q-1", Text: moss, Stop: model.EndTurn, Usage: estimate, Estimated: true, Uncounted: true}, ""},
	} {
		t.Run(r.file, func(t *testing.T) {
			base, requests := serving(t, 200, "application/json", modelhttptest.ReadRecorded(t, "recorded/"+r.file))
			var deltas []model.Delta
			m := at(t, base, configOf(t, r.file), model.Settings{Model: "m-1"})
			got, err := m.Generate(t.Context(), offering(r.file), func(d model.Delta) { deltas = append(deltas, d) })
			if err != nil {
				t.Fatal(err)
			}
			squeeze := cmp.Transformer("JSON", func(raw json.RawMessage) string { return squeezed(t, raw) })
			if diff := cmp.Diff(&r.want, got, cmpopts.IgnoreFields(model.Reply{}, "Latency"), squeeze); diff != "" {
				t.Error(diff)
			}
			want := model.Delta{Text: r.want.Text, Reasoning: r.reasoning}
			if want == (model.Delta{}) && len(deltas) == 0 {
				return
			}
			if len(deltas) != 1 || deltas[0] != want || *requests != 1 {
				t.Errorf("deltas %+v, %d requests", deltas, *requests)
			}
		})
	}
}

// squeezed returns JSON in canonical form.
func squeezed(t *testing.T, raw json.RawMessage) string {
	t.Helper()
	if len(raw) == 0 {
		return ""
	}
	var v any
	if err := json.Unmarshal(raw, &v); err != nil {
		t.Errorf("%v: %s", err, raw)
	}
	return marshal(v)
}

func TestRecordedErrors(t *testing.T) {
	for _, r := range []struct {
		file     string
		status   int
		kind     model.ErrorKind
		requests int
		says     string
		wait     time.Duration
	}{
		{"converse_malformed.json", 200, model.BadReply, 1, "malformed_tool_use", 0},
		{"converse_throttled.json", 429, model.RateLimited, 2, "Too many requests", 0},
		{"converse_denied.json", 403, model.AuthError, 1, "don't have access", 0},
		{"converse_too_long.json", 400, model.ContextTooLong, 1, "211893", 0},
		{"converse_model_error.json", 424, model.ServerError, 2, "unexpected error", 0},
		{"deepseek_broken.json", 200, model.BadReply, 1, "tool call cannot be read", 0},
		{"gemini_malformed.json", 200, model.BadReply, 1, "default_api.find", 0},
		{"gemini_nothing.json", 200, model.BadReply, 1, "stopped without text", 0},
		{"gemini_quota.json", 429, model.RateLimited, 2, "current quota", 27 * time.Second},
		{"gemini_key.json", 400, model.AuthError, 1, "API key not valid", 0},
		{"gemini_too_long.json", 400, model.ContextTooLong, 1, "1048576", 0},
	} {
		t.Run(r.file, func(t *testing.T) {
			base, requests := serving(t, r.status, "application/json", modelhttptest.ReadRecorded(t, "recorded/"+r.file))
			m := at(t, base, configOf(t, r.file), model.Settings{Model: "m-1", Retry: retry.Policy{MaxAttempts: 2}})
			got, err := m.Generate(t.Context(), offering(r.file), nil)
			var e *model.Error
			if got != nil || !errors.As(err, &e) || e.Kind != r.kind || !strings.Contains(e.Message, r.says) || e.RetryAfter != r.wait {
				t.Errorf("reply %+v, error %v, wait %v", got, err, e.RetryAfter)
			}
			if r.status != 200 && (e.Status != r.status || e.RequestID != "q-1") || *requests != r.requests {
				t.Errorf("status %d of request %q, requests %d times, want %d", e.Status, e.RequestID, *requests, r.requests)
			}
		})
	}
}

func TestEveryRecordingIsReplayed(t *testing.T) {
	source, err := os.ReadFile("recorded_test.go")
	if err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join("testdata", "recorded", "*.json"))
	if err != nil || len(files) == 0 {
		t.Fatalf("%v, %v", files, err)
	}
	for _, f := range files {
		if !strings.Contains(string(source), `{"`+filepath.Base(f)+`"`) {
			t.Errorf("nothing replays %s", f)
		}
	}
}
