package anthropic

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/pexctl/pex/engine/model"
	"github.com/pexctl/pex/internal/httpclient"
	"github.com/pexctl/pex/providers/modelhttp"
)

// typed converts the error of one attempt.
func (m *chatModel) typed(err error) *model.Error {
	if sent, ok := errors.AsType[*httpclient.Error](err); ok {
		return m.refused(sent)
	}
	return nil
}

// refused converts the error of a request that the server refused, or did not receive.
func (m *chatModel) refused(w *httpclient.Error) *model.Error {
	e := modelhttp.TransportError(w)
	if w.Status == 0 {
		return e
	}
	kind := named(w.Body)
	vague := kind == model.BadRequest && (e.Kind == model.AuthError || e.Kind == model.NotFound) // of a gateway; the status is more specific
	if kind != "" && w.Status < http.StatusInternalServerError && !vague || kind == model.ContextTooLong {
		e.Kind = kind
	}
	if e.RequestID == "" {
		e.RequestID = requestID(w.Body)
	}
	switch e.Kind {
	case model.NotFound:
		e.Message += fmt.Sprintf(" (requested model %s from %s/%s)", m.name, m.base, path)
	case model.BadRequest:
		e.Message += hint(e.Message)
	default:
	}
	return e
}

// hints help with refusals that a change of the spec can fix.
var hints = []struct{ words, hint string }{
	{"`temperature`", "remove temperature from this LLM, or use a model that supports it"},
	{"`top_p`", "remove top_p from this LLM, or use a model that supports it"},
	{"thinking.type.enabled", "this model does not support thinking_budget: set options.thinking: adaptive, and options.effort"},
	{"thinking.type.disabled", "this model always thinks: remove options.thinking, and set options.effort"},
	{"adaptive thinking is not supported", "this model requires options.thinking_budget instead of options.thinking"},
	{"tool_choice", "structured_output: tool forces a tool call; json_schema and prompt do not"},
	{"output_config.format", "options.structured_output: prompt does not use it"},
}

func hint(message string) string {
	for _, h := range hints {
		if strings.Contains(message, h.words) {
			return " (" + h.hint + ")"
		}
	}
	return ""
}

func requestID(body []byte) string {
	var shape struct {
		RequestID string `json:"request_id"`
	}
	_ = json.Unmarshal(body, &shape) // another format: there is none
	return shape.RequestID
}

// reported converts an error with status 200: in a stream, or instead of a reply.
func reported(body []byte) *model.Error {
	e := modelhttp.Bad("%s", modelhttp.ErrorBody(body))
	e.Kind, e.RequestID = model.ServerError, requestID(body)
	if kind := named(body); kind != "" {
		e.Kind = kind
	}
	return e
}

// types maps the API's error types to kinds.
var types = map[string]model.ErrorKind{
	"invalid_request_error": model.BadRequest,
	"authentication_error":  model.AuthError,
	"billing_error":         model.AuthError,
	"permission_error":      model.AuthError,
	"not_found_error":       model.NotFound,
	"request_too_large":     model.ContextTooLong,
	"rate_limit_error":      model.RateLimited,
	"api_error":             model.ServerError,
	"timeout_error":         model.ServerError,
	"overloaded_error":      model.Overloaded,
}

// words maps words in messages to kinds that are more specific than the type.
var words = modelhttp.ErrorWords{
	{"prompt is too long", model.ContextTooLong},
	{"exceed context limit", model.ContextTooLong},
	{"context window", model.ContextTooLong},
	{"maximum context length", model.ContextTooLong},
	{"exceeds the available context", model.ContextTooLong},
	{"credit balance is too low", model.AuthError},
}

// named returns the kind of an error by its message or type, or "". Bodies may quote the
// request, so only the message counts.
func named(body []byte) model.ErrorKind {
	if kind := words.Kind(httpclient.Explain(body)); kind != "" {
		return kind
	}
	var shape struct{ Error struct{ Type string } }
	_ = json.Unmarshal(body, &shape) // another format: it has no type
	return types[shape.Error.Type]
}
