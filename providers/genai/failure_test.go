package genai_test

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/pexctl/pex/engine/model"
	"github.com/pexctl/pex/engine/retry"
	"github.com/pexctl/pex/internal/httpclient"
	"github.com/pexctl/pex/providers/genai"
)

// refusing serves one status and body, and counts the requests.
func refusing(t *testing.T, status int, text string) (base string, requests *int) {
	t.Helper()
	requests = new(int)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		*requests++
		w.Header().Set("Content-Type", "application/json; charset=UTF-8")
		w.WriteHeader(status)
		_, _ = io.WriteString(w, text)
	}))
	t.Cleanup(s.Close)
	return s.URL, requests
}

func TestErrorKinds(t *testing.T) {
	quota := `{"error": {"code": 429, "message": "You exceeded your current quota.\n* Quota exceeded for metric: free_tier_requests, limit: %, model: m\nPlease retry in 36s.", "status": "RESOURCE_EXHAUSTED", "details": [{"@type": "type.googleapis.com/google.rpc.QuotaFailure", "violations": [{"quotaId": "GenerateRequestsPerDay"}]}, {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "36s"}]}}`
	tests := []struct {
		name     string
		status   int
		body     string
		kind     model.ErrorKind
		requests int
		text     string
		wait     time.Duration
	}{
		{"too long", 400, `{"error": {"code": 400, "message": "The input token count (1200293) exceeds the maximum number of tokens allowed (1048576).", "status": "INVALID_ARGUMENT"}}`, model.ContextTooLong, 1, "1048576", 0},
		{"too large", 400, `{"error": {"code": 400, "message": "Request payload size exceeds the limit: 20971520 bytes."}}`, model.ContextTooLong, 1, "20971520", 0},
		{"an invalid key", 400, `{"error": {"code": 400, "message": "API key not valid. Please pass a valid API key.", "status": "INVALID_ARGUMENT", "details": [{"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": "API_KEY_INVALID"}]}}`, model.AuthError, 1, "API key not valid", 0},
		{"a key without permission", 403, `{"error": {"code": 403, "message": "Requests are blocked.", "status": "PERMISSION_DENIED"}}`, model.AuthError, 1, "blocked", 0},
		{"an unsupported country", 400, `{"error": {"code": 400, "message": "User location is not supported for the API use.", "status": "FAILED_PRECONDITION"}}`, model.AuthError, 1, "location", 0},
		{"too fast", 429, strings.Replace(quota, "%", "20", 1), model.RateLimited, 1, "retry in 36s", 36 * time.Second},
		{"too fast, in a list", 429, "[" + strings.Replace(quota, "%", "20", 1) + "]", model.RateLimited, 1, "retry in 36s", 36 * time.Second},
		{"too fast, very long wait", 429, strings.Replace(strings.Replace(quota, "%", "20", 1), "36s\"", "999999s\"", 1), model.RateLimited, 1, "quota", httpclient.MaxRetryAfter},
		{"not in the plan", 429, strings.Replace(quota, "%", "0", 1), model.AuthError, 1, "limit: 0", 36 * time.Second},
		{"no such model", 404, `{"error": {"code": 404, "message": "models/x is not found for API version v1beta", "status": "NOT_FOUND"}}`, model.NotFound, 1, "model m at http", 0},
		{"no signature", 400, `{"error": {"code": 400, "message": "Function call is missing a thought_signature in functionCall parts.", "status": "INVALID_ARGUMENT"}}`, model.BadRequest, 1, "thought_signature", 0},
		{"overloaded", 503, `{"error": {"code": 503, "message": "The model is overloaded. Please try again later.", "status": "UNAVAILABLE"}}`, model.Overloaded, 2, "overloaded", 0},
		{"canceled by the server", 499, `{"error": {"code": 499, "message": "The operation was cancelled.", "status": "CANCELLED"}}`, model.ServerError, 2, "cancelled", 0},
		{"too slow", 504, `{"error": {"code": 504, "message": "Deadline expired before operation could complete.", "status": "DEADLINE_EXCEEDED"}}`, model.ServerError, 2, "Deadline", 0},
		{"a proxy", 502, `<html><body>Bad Gateway</body></html>`, model.ServerError, 2, "Bad Gateway", 0},
		{"nothing", 503, ``, model.Overloaded, 2, "Service Unavailable", 0},
		{"an empty list", 400, `[]`, model.BadRequest, 1, "[]", 0},
		{"a quoted request", 400, `{"error": {"message": "unknown field"}, "request": "api key not valid"}`, model.BadRequest, 1, "unknown field", 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			base, requests := refusing(t, tt.status, tt.body)
			_, err := at(t, base, defaults(), model.Settings{Model: "m", Retry: retry.Policy{MaxAttempts: 2}}).Generate(t.Context(), question, nil)
			var e *model.Error
			if !errors.As(err, &e) || e.Kind != tt.kind || e.Status != tt.status || !strings.Contains(e.Message, tt.text) {
				t.Fatalf("error %v", err)
			}
			if *requests != tt.requests || e.RetryAfter != tt.wait {
				t.Errorf("%d requests, want %d; wait %v, want %v", *requests, tt.requests, e.RetryAfter, tt.wait)
			}
		})
	}
}

func TestBadRepliesAreErrors(t *testing.T) {
	tests := []struct {
		name, body string
		kind       model.ErrorKind
	}{
		{"empty", ``, model.BadReply},
		{"a page", `<html>sign in</html>`, model.BadReply},
		{"half", `{"candidates": [{"content": {"parts": [{"text": "x`, model.BadReply},
		{"not a number", `{"candidates": [{"index": NaN}]}`, model.BadReply},
		{"null", `null`, model.BadReply},
		{"an empty list", `[]`, model.BadReply},
		{"a list of nulls", `[null]`, model.BadReply},
		{"no candidates", `{"responseId": "x"}`, model.BadReply},
		{"empty candidates", `{"candidates": []}`, model.BadReply},
		{"a candidate without content", `{"candidates": [{"content": null}]}`, model.BadReply},
		{"candidates of another kind", `{"candidates": "x"}`, model.BadReply},
		{"parts of another kind", `{"candidates": [{"content": {"parts": [7]}}]}`, model.BadReply},
		{"deep nesting", `{"candidates": ` + strings.Repeat("[", 20000) + strings.Repeat("]", 20000) + `}`, model.BadReply},
		{"too many calls", `{"candidates": [{"content": {"parts": [` + strings.Repeat(`{"functionCall": {"name": "f"}},`, 10000) + `{"text": ""}]}, "finishReason": "STOP"}]}`, model.BadReply},
		{"a call without name", `{"candidates": [{"content": {"parts": [{"functionCall": {"args": {}}}]}, "finishReason": "STOP"}]}`, model.BadReply},
		{"a call of a long name", `{"candidates": [{"content": {"parts": [{"functionCall": {"name": "` + strings.Repeat("f", 2000) + `"}}]}, "finishReason": "STOP"}]}`, model.BadReply},
		{"too many calls, reported by the API", `{"candidates": [{"finishReason": "TOO_MANY_TOOL_CALLS"}]}`, model.BadReply},
		{"no reason", `{"candidates": [{"finishReason": "FINISH_REASON_UNSPECIFIED"}]}`, model.ServerError},
		{"an error with status 200", `{"error": {"message": "no capacity", "code": 503}}`, model.Overloaded},
		{"an error beside candidates", `{"candidates": [{"content": {"parts": [{"text": "x"}]}}], "error": {"message": "cut", "status": "RESOURCE_EXHAUSTED"}}`, model.RateLimited},
		{"an error of another shape", `{"error": "out of memory"}`, model.ServerError},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			base, _ := refusing(t, http.StatusOK, tt.body)
			got, err := at(t, base, defaults(), model.Settings{}).Generate(t.Context(), question, nil)
			var e *model.Error
			if got != nil || !errors.As(err, &e) || e.Kind != tt.kind || e.Message == "" {
				t.Errorf("reply %+v, error %v", got, err)
			}
		})
	}
}

func TestUnusualReplies(t *testing.T) {
	estimated := model.Tokens{Input: 3, Output: 1}
	one := func(rest string) string { return `{"candidates": [{"content": {"parts": [{"text": "x"}]}` + rest }
	tests := []struct {
		name, body string
		text       string
		stop       model.StopReason
		usage      model.Tokens
	}{
		{"no finish reason", one(`}]}`), "x", model.EndTurn, estimated},
		{"usage of zeros", one(`, "finishReason": "STOP"}], "usageMetadata": {"promptTokenCount": 0}}`), "x", model.EndTurn, estimated},
		{"negative usage", one(`}], "usageMetadata": {"promptTokenCount": -1, "candidatesTokenCount": 5}}`), "x", model.EndTurn, estimated},
		{"implausible usage", one(`}], "usageMetadata": {"promptTokenCount": 9e18}}`), "x", model.EndTurn, estimated},
		{"usage of another kind", one(`}], "usageMetadata": "some"}`), "x", model.EndTurn, estimated},
		{"invalid UTF-8", "{\"candidates\": [{\"content\": {\"parts\": [{\"text\": \"a\xffb\"}]}}]}", "a\uFFFDb", model.EndTurn, estimated},
		{"other parts", `{"candidates": [{"content": {"parts": [{"thought": true, "text": "hm"}, {"inlineData": {"data": "AA=="}}, {"text": "x"}, {"executableCode": {"code": "1"}}, {"text": "y"}]}, "finishReason": "STOP"}]}`, "xy", model.EndTurn, estimated},
		{"an empty reply", `{"candidates": [{"content": {"role": "model"}, "finishReason": "STOP"}], "usageMetadata": {"promptTokenCount": 3}}`, "", model.EndTurn, model.Tokens{Input: 3}},
		{"an empty call", `{"candidates": [{"content": {"parts": [{"text": "x"}, {"functionCall": {}}]}, "finishReason": "STOP"}]}`, "x", model.EndTurn, estimated},
		{"calls truncated", `{"candidates": [{"content": {"parts": [{"functionCall": {"name": "f", "args": null}}]}, "finishReason": "MAX_TOKENS"}]}`, "", model.MaxTokens, estimated},
		{"withheld", `{"candidates": [{"finishReason": "SPII", "finishMessage": "an address"}]}`, "the reply was withheld (SPII: an address)", model.ContentFiltered, model.Tokens{Input: 3}},
		{"an unsupported language", one(`, "finishReason": "LANGUAGE"}]}`), "x", model.ContentFiltered, estimated},
		{"a blocklist", one(`, "finishReason": "BLOCKLIST"}]}`), "x", model.ContentFiltered, estimated},
		{"an unsafe prompt", `{"promptFeedback": {"blockReason": "SAFETY", "blockReasonMessage": "violence"}}`, "the prompt was blocked (SAFETY: violence)", model.ContentFiltered, model.Tokens{Input: 3}},
		{"a guardrail", `{"promptFeedback": {"blockReason": "MODEL_ARMOR"}}`, "the prompt was blocked (MODEL_ARMOR)", model.Guardrail, model.Tokens{Input: 3}},
		{"a guardrail later", one(`, "finishReason": "MODEL_ARMOR"}]}`), "x", model.Guardrail, estimated},
		{"feedback that blocks nothing", one(`, "finishReason": "STOP"}], "promptFeedback": {"blockReason": "BLOCKED_REASON_UNSPECIFIED"}}`), "x", model.EndTurn, estimated},
		{"an error that is null", one(`}], "error": null}`), "x", model.EndTurn, estimated},
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

func TestPasswordInURLIsNotShown(t *testing.T) {
	base, _ := refusing(t, http.StatusNotFound, `{"error": {"message": "nothing here"}}`)
	c := defaults()
	m, err := genai.New(&c, model.Settings{Model: "m", BaseURL: strings.Replace(base, "http://", "http://me:pass-word@", 1)}, func(*httpclient.Settings) {})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := m.Generate(t.Context(), question, nil); err == nil || strings.Contains(err.Error(), "pass-word") || !strings.Contains(err.Error(), "model m at http") {
		t.Errorf("error %v", err)
	}
}
