package http

import (
	"encoding/json"
	"errors"
	nethttp "net/http"
	"strings"
	"time"

	"github.com/pexctl/pex/engine/model"
	"github.com/pexctl/pex/internal/wire"
	"github.com/pexctl/pex/providers/call"
)

// typed says what a failure of one attempt means.
func (m *chatModel) typed(err error) *model.Error {
	if sent, ok := errors.AsType[*wire.Error](err); ok {
		return m.refused(sent)
	}
	return nil
}

// refused types a request that the transport reports as failed.
func (m *chatModel) refused(w *wire.Error) *model.Error {
	if w.RetryAfter == 0 {
		w.RetryAfter = askedToWait(w.Body)
	}
	e := call.Refused(w)
	if w.Status == 0 {
		return e
	}
	if w.Status == nethttp.StatusFailedDependency { // Bedrock's word for a model that failed
		e.Kind = model.ServerError
	}
	e.Kind = words.Refused(w, e.Kind)
	if e.Kind == model.NotFound {
		e.Message += " (options.url and base_url lead there)"
	}
	if len(m.env.missing) > 0 && e.Kind == model.AuthError {
		e.Message += " (not set in the environment: " + strings.Join(m.env.missing, ", ") + ")"
	}
	return e
}

// words are the names of errors, in code, type, status and message, that say
// more than the HTTP status does.
var words = call.Words{
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

// askedToWait is how long an answer of Google's asks to wait, in its body.
func askedToWait(body []byte) time.Duration {
	var shape struct {
		Error struct {
			Details []struct{ RetryDelay string }
		}
	}
	_ = json.Unmarshal(body, &shape) // of another shape: nothing was asked for
	for _, d := range shape.Error.Details {
		if wait, err := time.ParseDuration(d.RetryDelay); err == nil && wait > 0 {
			return min(wait, wire.MaxRetryAfter)
		}
	}
	return 0
}

// unlike is the error of an answer that another protocol has.
func unlike(protocol string, body []byte) *model.Error {
	return call.Bad("the endpoint's answer is none of %s: %s", protocol, call.Said(body))
}
