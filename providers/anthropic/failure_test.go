package anthropic_test

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

func fault(kind, message string) string {
	return `{"type":"error","error":{"type":"` + kind + `","message":"` + message + `"},"request_id":"req_7"}`
}

func TestErrorResponses(t *testing.T) {
	const invalid = "invalid_request_error"
	tests := []struct {
		name   string
		status int
		body   string
		kind   model.ErrorKind
		asked  int
		text   string
	}{
		{"too long", 400, fault(invalid, "prompt is too long: 208310 tokens > 200000 maximum"), model.ContextTooLong, 1, "208310"},
		{"too long with the reply", 400, fault(invalid, "input length and `max_tokens` exceed context limit: 190000 + 20000 > 200000"), model.ContextTooLong, 1, "190000"},
		{"too large", 413, fault("request_too_large", "Request exceeds the maximum size"), model.ContextTooLong, 1, "maximum size"},
		{"no money", 400, fault(invalid, "Your credit balance is too low to access the Anthropic API."), model.AuthError, 1, "credit"},
		{"billing", 402, fault("billing_error", "pay"), model.AuthError, 1, "pay"},
		{"no key", 401, fault("authentication_error", "invalid x-api-key"), model.AuthError, 1, "x-api-key"},
		{"no such model", 404, fault("not_found_error", "model: claude-9"), model.NotFound, 1, "/v1/messages)"},
		{"too fast", 429, fault("rate_limit_error", "This request would exceed your rate limit"), model.RateLimited, 2, "rate limit"},
		{"overloaded", 529, fault("overloaded_error", "Overloaded"), model.Overloaded, 2, "Overloaded"},
		{"a fault", 500, fault("api_error", "Internal server error"), model.ServerError, 2, "Internal"},
		{"took too long", 504, fault("timeout_error", "timed out"), model.ServerError, 2, "timed out"},
		{"temperature", 400, fault(invalid, "`temperature` is deprecated for this model."), model.BadRequest, 1, "remove temperature"},
		{"both", 400, fault(invalid, "`temperature` and `top_p` cannot both be specified for this model."), model.BadRequest, 1, "remove temperature"},
		{"no budget", 400, fault(invalid, `\"thinking.type.enabled\" is not supported for this model.`), model.BadRequest, 1, "thinking: adaptive"},
		{"always thinks", 400, fault(invalid, `\"thinking.type.disabled\" is not supported for this model.`), model.BadRequest, 1, "remove options.thinking"},
		{"a schema", 400, fault(invalid, "output_config.format.schema: not supported"), model.BadRequest, 1, "structured_output: prompt"},
		{"of a gateway", 502, `<html><body>Bad Gateway</body></html>`, model.ServerError, 2, "Bad Gateway"},
		{"no key, by a gateway", 401, fault(invalid, "bad token"), model.AuthError, 1, "bad token"},
		{"no model, by a gateway", 404, fault(invalid, "no such route"), model.NotFound, 1, "/v1/messages)"},
		{"nothing", 503, ``, model.Overloaded, 2, "Service Unavailable"},
		{"a quoted request", 400, `{"error":{"message":"unknown field"},"request":"prompt is too long"}`, model.BadRequest, 1, "unknown field"},
		{"the type in the message", 400, fault(invalid, "tool overloaded_error: no such tool"), model.BadRequest, 1, "no such tool"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			base, asked := refusing(t, tt.status, tt.body)
			_, err := at(t, base, defaults(), model.Settings{Retry: retry.Policy{MaxAttempts: 2}}).Generate(t.Context(), question, nil)
			var e *model.Error
			if !errors.As(err, &e) || e.Kind != tt.kind || e.Status != tt.status || !strings.Contains(e.Message, tt.text) {
				t.Errorf("error %v", err)
			}
			if strings.Contains(tt.body, "req_7") && (e == nil || e.RequestID != "req_7") {
				t.Errorf("no request id: %#v", e)
			}
			if *asked != tt.asked {
				t.Errorf("asked %d times, want %d", *asked, tt.asked)
			}
		})
	}
}

func TestMalformedBodiesAreErrors(t *testing.T) {
	tests := []struct {
		name, body string
		kind       model.ErrorKind
	}{
		{"empty", ``, model.BadReply},
		{"a page", `<html>sign in</html>`, model.BadReply},
		{"half", `{"content": [{"type": "text", "text": "x`, model.BadReply},
		{"not a number", `{"content": [{"index": NaN}]}`, model.BadReply},
		{"null", `null`, model.BadReply},
		{"a list", `[]`, model.BadReply},
		{"no content", `{"id": "x"}`, model.BadReply},
		{"content of null", `{"content": null}`, model.BadReply},
		{"content of another kind", `{"content": 7}`, model.BadReply},
		{"deep nesting", `{"content": ` + strings.Repeat("[", 20000) + strings.Repeat("]", 20000) + `}`, model.BadReply},
		{"too many calls", `{"content": [` + strings.Repeat(`{"type": "tool_use", "name": "f", "input": {}},`, 1000) + `{"type": "tool_use", "name": "f"}]}`, model.BadReply},
		{"a call without name", `{"content": [{"type": "tool_use", "input": {}}]}`, model.BadReply},
		{"an error with status 200", fault("overloaded_error", "no capacity"), model.Overloaded},
		{"an error beside content", `{"content": [], "error": {"type": "rate_limit_error", "message": "cut"}}`, model.RateLimited},
		{"a pause", `{"content": [], "stop_reason": "pause_turn"}`, model.BadReply},
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
	x := `{"content": [{"type": "text", "text": "x"}]`
	guess := model.Tokens{Input: 3, Output: 1}
	tests := []struct {
		name, body string
		text       string
		stop       model.StopReason
		usage      model.Tokens
	}{
		{"no reason", x + `, "stop_reason": null, "usage": null}`, "x", model.EndTurn, guess},
		{"usage of zeros", x + `, "usage": {"input_tokens": 0, "output_tokens": 0}}`, "x", model.EndTurn, guess},
		{"usage below zero", x + `, "usage": {"input_tokens": -1, "output_tokens": 5}}`, "x", model.EndTurn, guess},
		{"usage beyond reason", x + `, "usage": {"input_tokens": 9000000000000000000, "output_tokens": 5}}`, "x", model.EndTurn, guess},
		{"invalid UTF-8", "{\"content\": [{\"type\": \"text\", \"text\": \"a\xffb\"}]}", "a\uFFFDb", model.EndTurn, guess},
		{"several texts", `{"content": [{"type": "text", "text": "x"}, {"type": "later"}, {"type": "text", "text": "y"}]}`, "xy", model.EndTurn, guess},
		{"calls with end_turn", `{"content": [{"type": "tool_use", "name": "f", "input": {}}], "stop_reason": "end_turn"}`, "", model.ToolUse, guess},
		{"calls cut", `{"content": [{"type": "tool_use", "name": "f", "input": {}}], "stop_reason": "max_tokens"}`, "", model.MaxTokens, guess},
		{"an unknown reason", x + `, "stop_reason": "eos"}`, "x", model.EndTurn, guess},
		{"a guardrail", x + `, "stop_reason": "guardrail_intervened"}`, "x", model.Guardrail, guess},
		{"an error that is null", x + `, "error": null}`, "x", model.EndTurn, guess},
		{"a refusal with its reason", `{"content": [], "stop_reason": "refusal", "stop_details": {"explanation": "no"}}`, "no", model.Refusal, guess},
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
