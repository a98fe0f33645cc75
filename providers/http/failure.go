package http

import (
	"encoding/json"
	"errors"
	nethttp "net/http"
	"strings"
	"time"

	"github.com/pexctl/pex/engine/model"
	"github.com/pexctl/pex/internal/httpclient"
	"github.com/pexctl/pex/providers/modelhttp"
)

// typedError converts the error of an attempt.
func (m *chatModel) typedError(err error) *model.Error {
	if sent, ok := errors.AsType[*httpclient.Error](err); ok {
		return m.refusedError(sent)
	}
	return nil
}

// refusedError converts an error reported by the transport.
func (m *chatModel) refusedError(w *httpclient.Error) *model.Error {
	if w.RetryAfter == 0 {
		w.RetryAfter = retryDelay(w.Body)
	}
	e := modelhttp.TransportError(w)
	if w.Status == 0 {
		return e
	}
	if w.Status == nethttp.StatusFailedDependency { // Bedrock's status for a failed model
		e.Kind = model.ServerError
	}
	e.Kind = errorWords.KindOfRefused(w, e.Kind)
	if e.Kind == model.NotFound {
		e.Message += " (check options.url and base_url)"
	}
	if len(m.env.missing) > 0 && e.Kind == model.AuthError {
		e.Message += " (not set in the environment: " + strings.Join(m.env.missing, ", ") + ")"
	}
	return e
}

// errorWords are error names in code, type, status and message that are more specific
// than the HTTP status.
var errorWords = modelhttp.ErrorWords{
	{"context_length_exceeded", model.ContextTooLong},
	{"maximum context length", model.ContextTooLong},
	{"exceeds the maximum number of tokens", model.ContextTooLong},
	{"context window", model.ContextTooLong},
	{"is too long", model.ContextTooLong},
	{"insufficient_quota", model.AuthError},
	{"api key not valid", model.AuthError},
	{"api_key_invalid", model.AuthError},
	{"invalid_api_key", model.AuthError},
	{"security token", model.AuthError},
	{"model_not_found", model.NotFound},
	{"model identifier is invalid", model.NotFound},
	{"resource_exhausted", model.RateLimited},
	{"rate_limit", model.RateLimited},
	{"throttl", model.RateLimited},
	{"overloaded", model.Overloaded},
}

// retryDelay returns the delay requested in the body of Google's responses.
func retryDelay(body []byte) time.Duration {
	var shape struct {
		Error struct {
			Details []struct{ RetryDelay string }
		}
	}
	_ = json.Unmarshal(body, &shape) // another format: no delay
	for _, d := range shape.Error.Details {
		if wait, err := time.ParseDuration(d.RetryDelay); err == nil && wait > 0 {
			return min(wait, httpclient.MaxRetryAfter)
		}
	}
	return 0
}

// wrongProtocol returns the error for a response of another protocol.
func wrongProtocol(protocol string, body []byte) *model.Error {
	return modelhttp.Bad("the endpoint's reply is not in the format of %s: %s", protocol, modelhttp.ErrorBody(body))
}
