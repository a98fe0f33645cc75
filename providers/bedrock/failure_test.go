package bedrock_test

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

// refusing serves one status, exception and body, and counts the requests.
func refusing(t *testing.T, status int, exception, text string) (base string, requests *int) {
	t.Helper()
	requests = new(int)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		*requests++
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("X-Amzn-Requestid", "q-1")
		if exception != "" {
			w.Header().Set("X-Amzn-Errortype", exception)
		}
		w.WriteHeader(status)
		_, _ = io.WriteString(w, text)
	}))
	t.Cleanup(s.Close)
	return s.URL, requests
}

func TestExceptionKinds(t *testing.T) {
	tests := []struct {
		exception string
		status    int
		message   string
		kind      model.ErrorKind
		requests  int
	}{
		{"ThrottlingException", 429, "Too many tokens, please wait before trying again.", model.RateLimited, 2},
		{"ServiceQuotaExceededException", 400, "Your request exceeds the service quota for your account.", model.RateLimited, 2},
		{"ModelNotReadyException", 429, "Model is not ready for inference.", model.Overloaded, 2},
		{"ServiceUnavailableException", 503, "Bedrock is unable to process your request.", model.Overloaded, 2},
		{"InternalServerException", 500, "The system encountered an unexpected error.", model.ServerError, 2},
		{"ModelErrorException", 424, "The model failed.", model.ServerError, 2},
		{"ModelTimeoutException", 408, "Model timed out.", model.CallTimeout, 1},
		{"ResourceNotFoundException", 404, "Could not resolve the foundation model from the provided model identifier.", model.NotFound, 1},
		{"UnknownOperationException", 404, "", model.NotFound, 1},
		{"AccessDeniedException", 403, "You don't have access to the model with the specified model ID.", model.AuthError, 1},
		{"UnrecognizedClientException", 403, "The security token included in the request is invalid.", model.AuthError, 1},
		{"ExpiredTokenException", 403, "The security token included in the request is expired", model.AuthError, 1},
		{"InvalidSignatureException", 403, "Signature expired: 20261121T000000Z is now earlier than 20261121T001000Z", model.AuthError, 1},
		{"IncompleteSignatureException", 400, "x", model.AuthError, 1},
		{"ValidationException", 400, "The text field in the ContentBlock object at messages.0.content.0 is blank.", model.BadRequest, 1},
		{"ValidationException", 400, "Input is too long for requested model.", model.ContextTooLong, 1},
		{"ValidationException", 400, "The model returned the following errors: prompt is too long: 208310 tokens > 200000 maximum", model.ContextTooLong, 1},
		{"ValidationException", 400, "The model returned the following errors: input length and `max_tokens` exceed context limit: 1 + 2 > 3", model.ContextTooLong, 1},
		{"ValidationException", 400, "This model's maximum context length is 131072 tokens.", model.ContextTooLong, 1},
		{"ValidationException", 400, "Input Tokens Exceeded: Number of input tokens exceeds maximum length.", model.ContextTooLong, 1},
		{"ValidationException", 400, "The provided model identifier is invalid.", model.NotFound, 1},
		{"ValidationException", 400, "Invocation of model ID x with on-demand throughput isn't supported.", model.NotFound, 1},
		{"SomethingNewException", 403, "x", model.AuthError, 1},
		{"", 500, "x", model.ServerError, 2},
	}
	for _, tt := range tests {
		t.Run(tt.exception, func(t *testing.T) {
			base, requests := refusing(t, tt.status, tt.exception+":http://internal.amazon.com/coral/com.amazon.bedrock/", `{"message":"`+tt.message+`"}`)
			_, err := at(t, base, defaults(), model.Settings{Retry: retry.Policy{MaxAttempts: 2}}).Generate(t.Context(), question, nil)
			var e *model.Error
			if !errors.As(err, &e) || e.Kind != tt.kind || e.Status != tt.status || e.RequestID != "q-1" || *requests != tt.requests {
				t.Errorf("%d requests, error %+v", *requests, e)
			}
			if !strings.Contains(e.Message, tt.message) || !strings.HasPrefix(e.Message, tt.exception) {
				t.Errorf("message %q", e.Message)
			}
		})
	}
}

func TestOtherErrorFormats(t *testing.T) {
	tests := []struct {
		name, body string
		status     int
		kind       model.ErrorKind
		text       string
	}{
		{"named in the body", `{"__type":"com.amazon.coral.service#ThrottlingException","message":"slow down"}`, 400, model.RateLimited, "ThrottlingException: slow down"},
		{"code in the body", `{"code":"ExpiredTokenException","message":"old"}`, 400, model.AuthError, "ExpiredTokenException: old"},
		{"capital letter", `{"Message":"User: x is not authorized"}`, 403, model.AuthError, "not authorized"},
		{"the model's status", `{"__type":"ModelErrorException","message":"failed","originalStatusCode":400}`, 424, model.BadRequest, "failed"},
		{"the status of a busy model", `{"__type":"ModelErrorException","message":"failed","originalStatusCode":529}`, 424, model.Overloaded, "failed"},
		{"a proxy", `<html>Bad Gateway</html>`, 502, model.ServerError, "Bad Gateway"},
		{"no such path", `{"message":"no route"}`, 404, model.NotFound, "model m at http://127.0.0.1"},
		{"too large", `{"message":"Request too large"}`, 413, model.ContextTooLong, "too large"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			base, _ := refusing(t, tt.status, "", tt.body)
			_, err := at(t, base, defaults(), model.Settings{}).Generate(t.Context(), question, func(model.Delta) {})
			var e *model.Error
			if !errors.As(err, &e) || e.Kind != tt.kind || e.Status != tt.status || !strings.Contains(e.Message, tt.text) {
				t.Errorf("error %v", err)
			}
		})
	}
}

func TestBadRepliesAreErrors(t *testing.T) {
	tests := []struct{ name, body string }{
		{"empty", ``},
		{"a page", `<html>sign in</html>`},
		{"half", `{"output":{"message":{"content":[{"text":"x`},
		{"not a number", `{"output":NaN}`},
		{"null", `null`},
		{"a list", `[]`},
		{"no message", `{"stopReason":"end_turn"}`},
		{"null message", `{"output":null}`},
		{"an output of another kind", `{"output":"x"}`},
		{"content of another kind", `{"output":{"message":{"content":"x"}}}`},
		{"text of another kind", `{"output":{"message":{"content":[{"text":7}]}}}`},
		{"deep nesting", `{"output":{"message":{"content":` + strings.Repeat("[", 20000) + strings.Repeat("]", 20000) + `}}}`},
		{"too many calls", `{"output":{"message":{"content":[` + strings.Repeat(`{"toolUse":{"name":"f","input":{}}},`, 10000) + `{"text":"x"}]}}}`},
		{"a call without name", `{"output":{"message":{"content":[{"toolUse":{"toolUseId":"t","input":{"a":1}}}]}}}`},
		{"malformed output", `{"output":{"message":{"content":[]}},"stopReason":"malformed_model_output"}`},
		{"malformed call", `{"output":{"message":{"content":[]}},"stopReason":"malformed_tool_use"}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			base, _ := refusing(t, http.StatusOK, "", tt.body)
			got, err := at(t, base, defaults(), model.Settings{}).Generate(t.Context(), question, nil)
			var e *model.Error
			if got != nil || !errors.As(err, &e) || e.Kind != model.BadReply {
				t.Errorf("reply %+v, error %v", got, err)
			}
		})
	}
}
