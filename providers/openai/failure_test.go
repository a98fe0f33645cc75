package openai_test

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/pexctl/pex/engine/model"
	"github.com/pexctl/pex/engine/retry"
)

// refusing serves a status and a body, and counts the requests.
func refusing(t *testing.T, status int, text string) (base string, asked *int) {
	t.Helper()
	asked = new(int)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		*asked++
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		_, _ = io.WriteString(w, text)
	}))
	t.Cleanup(s.Close)
	return s.URL, asked
}

func TestErrorResponsesOfManyServers(t *testing.T) {
	tests := []struct {
		name   string
		status int
		body   string
		kind   model.ErrorKind
		asked  int
		text   string
	}{
		{"OpenAI, too long", 400, `{"error":{"message":"This model's maximum context length is 128000 tokens.","type":"invalid_request_error","code":"context_length_exceeded"}}`, model.ContextTooLong, 1, "128000"},
		{"llama.cpp, too long", 400, `{"error":{"code":400,"message":"the request exceeds the available context size","type":"exceed_context_size_error"}}`, model.ContextTooLong, 1, "available"},
		{"old llama.cpp, too long", 500, `{"error":{"code":500,"message":"the request exceeds the available context size. try increasing it","type":"server_error"}}`, model.ContextTooLong, 1, "increasing"},
		{"OpenAI, no money", 429, `{"error":{"message":"You exceeded your current quota","type":"insufficient_quota","code":"insufficient_quota"}}`, model.AuthError, 1, "quota"},
		{"OpenAI, too fast", 429, `{"error":{"message":"Rate limit reached","code":"rate_limit_exceeded"}}`, model.RateLimited, 2, "Rate limit"},
		{"OpenAI, no such model", 404, `{"error":{"message":"The model does not exist","code":"model_not_found"}}`, model.NotFound, 1, "base_url usually ends in /v1"},
		{"vLLM", 400, `{"object":"error","message":"temperature must be non-negative","type":"BadRequestError","code":400}`, model.BadRequest, 1, "non-negative"},
		{"Ollama", 404, `{"error":"model 'x' not found"}`, model.NotFound, 1, "model 'x' not found"},
		{"FastAPI", 422, `{"detail":[{"msg":"field required"}]}`, model.BadRequest, 1, "field required"},
		{"a proxy", 502, `<html><body>Bad Gateway</body></html>`, model.ServerError, 2, "Bad Gateway"},
		{"nothing", 503, ``, model.Overloaded, 2, "Service Unavailable"},
		{"a quoted request", 400, `{"error":{"message":"unknown field"},"request":"overloaded insufficient_quota"}`, model.BadRequest, 1, "unknown field"},
		{"too large", 413, `{"error":{"message":"Request too large"}}`, model.ContextTooLong, 1, "too large"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			base, asked := refusing(t, tt.status, tt.body)
			_, err := at(t, base, defaults(), model.Settings{Retry: retry.Policy{MaxAttempts: 2}}).Generate(t.Context(), question, nil)
			var e *model.Error
			if !errors.As(err, &e) || e.Kind != tt.kind || e.Status != tt.status || !strings.Contains(e.Message, tt.text) {
				t.Errorf("error %v", err)
			}
			if *asked != tt.asked {
				t.Errorf("asked %d times, want %d", *asked, tt.asked)
			}
		})
	}
}

func TestHintAboutBaseURLDependsOnItsPath(t *testing.T) {
	base, _ := refusing(t, http.StatusNotFound, `{"error":{"message":"no such model"}}`)
	for path, hinted := range map[string]bool{"": true, "/v1": false, "/v1/": false, "/v2": true} {
		_, err := at(t, base+path, defaults(), model.Settings{}).Generate(t.Context(), question, nil)
		if err == nil || strings.Contains(err.Error(), "usually ends in /v1") != hinted {
			t.Errorf("%q: %v", path, err)
		}
	}
}

func TestMalformedBodiesAreErrors(t *testing.T) {
	tests := []struct {
		name, body string
		kind       model.ErrorKind
	}{
		{"empty", ``, model.BadReply},
		{"a page", `<html>sign in</html>`, model.BadReply},
		{"half", `{"choices": [{"message": {"content": "x`, model.BadReply},
		{"not a number", `{"choices": [{"index": NaN}]}`, model.BadReply},
		{"null", `null`, model.BadReply},
		{"a list", `[]`, model.BadReply},
		{"no choices", `{"id": "x"}`, model.BadReply},
		{"empty choices", `{"choices": []}`, model.BadReply},
		{"choices of another kind", `{"choices": "x"}`, model.BadReply},
		{"content of another kind", `{"choices": [{"message": {"content": {"a": 7}}}]}`, model.BadReply},
		{"deep nesting", `{"choices": ` + strings.Repeat("[", 20000) + strings.Repeat("]", 20000) + `}`, model.BadReply},
		{"too many calls", `{"choices": [{"message": {"tool_calls": [` + strings.Repeat(`{"function": {"name": "f", "arguments": "{}"}},`, 10000) + `{"function": {"name": "f"}}]}}]}`, model.BadReply},
		{"a call without name", `{"choices": [{"message": {"tool_calls": [{"function": {"arguments": "{}"}}]}}]}`, model.BadReply},
		{"an error with status 200", `{"error": {"message": "no capacity", "code": 503}}`, model.Overloaded},
		{"an error beside choices", `{"choices": [{"message": {"content": "x"}}], "error": {"message": "cut", "status": 429}}`, model.RateLimited},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			base, _ := refusing(t, http.StatusOK, tt.body)
			got, err := at(t, base, defaults(), model.Settings{}).Generate(t.Context(), question, nil)
			var e *model.Error
			if got != nil || !errors.As(err, &e) || e.Kind != tt.kind {
				t.Errorf("reply %+v, error %v", got, err)
			}
		})
	}
}

func TestUnusualRepliesAreAccepted(t *testing.T) {
	tests := []struct {
		name, body string
		text       string
		stop       model.StopReason
		usage      model.Tokens
	}{
		{"no finish reason", `{"choices": [{"message": {"content": "x"}, "finish_reason": null}], "usage": null}`, "x", model.EndTurn, model.Tokens{Input: 3, Output: 1}},
		{"usage of zeros", `{"choices": [{"message": {"content": "x"}}], "usage": {"prompt_tokens": 0, "completion_tokens": 0}}`, "x", model.EndTurn, model.Tokens{Input: 3, Output: 1}},
		{"usage below zero", `{"choices": [{"message": {"content": "x"}}], "usage": {"prompt_tokens": -1, "completion_tokens": 5}}`, "x", model.EndTurn, model.Tokens{Input: 3, Output: 1}},
		{"usage beyond reason", `{"choices": [{"message": {"content": "x"}}], "usage": {"prompt_tokens": 9e18, "completion_tokens": 5}}`, "x", model.EndTurn, model.Tokens{Input: 3, Output: 1}},
		{"invalid UTF-8", "{\"choices\": [{\"message\": {\"content\": \"a\xffb\"}}]}", "a\uFFFDb", model.EndTurn, model.Tokens{Input: 3, Output: 1}},
		{"parts", `{"choices": [{"message": {"content": [{"type": "thinking"}, {"type": "text", "text": "x"}]}}]}`, "x", model.EndTurn, model.Tokens{Input: 3, Output: 1}},
		{"a refusal beside content", `{"choices": [{"message": {"content": "So far.", "refusal": "I cannot."}, "finish_reason": "stop"}], "usage": {"prompt_tokens": 3, "completion_tokens": 1}}`, "So far.\n\nI cannot.", model.Refusal, model.Tokens{Input: 3, Output: 1}},
		{"calls with stop", `{"choices": [{"message": {"tool_calls": [{"function": {"name": "f"}}]}, "finish_reason": "stop"}]}`, "", model.ToolUse, model.Tokens{Input: 3, Output: 1}},
		{"calls cut", `{"choices": [{"message": {"tool_calls": [{"function": {"name": "f", "arguments": "{\"x"}}]}, "finish_reason": "length"}]}`, "", model.MaxTokens, model.Tokens{Input: 3, Output: 1}},
		{"an unknown reason", `{"choices": [{"message": {"content": "x"}, "finish_reason": "eos"}]}`, "x", model.EndTurn, model.Tokens{Input: 3, Output: 1}},
		{"stop sequence", `{"choices": [{"message": {"content": "x"}, "finish_reason": "stop", "stop_reason": "END"}]}`, "x", model.StopSequence, model.Tokens{Input: 3, Output: 1}},
		{"a guardrail", `{"choices": [{"message": {"content": "x"}, "finish_reason": "guardrail_intervened"}]}`, "x", model.Guardrail, model.Tokens{Input: 3, Output: 1}},
		{"an error that is null", `{"choices": [{"message": {"content": "x"}}], "error": null}`, "x", model.EndTurn, model.Tokens{Input: 3, Output: 1}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			base, _ := refusing(t, http.StatusOK, tt.body)
			got, err := at(t, base, defaults(), model.Settings{}).Generate(t.Context(), question, nil)
			if err != nil {
				t.Fatal(err)
			}
			if got.Text != tt.text || got.Stop != tt.stop || got.Usage != tt.usage {
				t.Errorf("reply %+v", got)
			}
		})
	}
}
