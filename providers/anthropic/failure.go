package anthropic

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/internal/wire"
	"github.com/pexctl/pex/providers/call"
)

// typed says what a failure of one attempt means.
func (m *model) typed(err error) *engine.ModelError {
	if sent, ok := errors.AsType[*wire.Error](err); ok {
		return m.refused(sent)
	}
	return nil
}

// refused types a request that the transport reports as failed.
func (m *model) refused(w *wire.Error) *engine.ModelError {
	e := call.Refused(w)
	if w.Status == 0 {
		return e
	}
	kind := named(w.Body)
	vague := kind == engine.BadRequest && (e.Kind == engine.AuthError || e.Kind == engine.NotFound) // a gateway's; the status says more
	if kind != "" && w.Status < http.StatusInternalServerError && !vague || kind == engine.ContextTooLong {
		e.Kind = kind
	}
	if e.RequestID == "" {
		e.RequestID = requestID(w.Body)
	}
	switch e.Kind {
	case engine.NotFound:
		e.Message += fmt.Sprintf(" (asked %s/%s for model %s)", m.base, path, m.name)
	case engine.BadRequest:
		e.Message += hint(e.Message)
	default:
	}
	return e
}

// hints are the ways out of refusals that a spec can mend.
var hints = []struct{ words, hint string }{
	{"`temperature`", "leave temperature out of this llm, or take a model that has it"},
	{"`top_p`", "leave top_p out of this llm, or take a model that has it"},
	{"thinking.type.enabled", "this model has no thinking_budget: write options.thinking: adaptive, and options.effort"},
	{"thinking.type.disabled", "this model always thinks: leave options.thinking out, and write options.effort"},
	{"adaptive thinking is not supported", "this model wants options.thinking_budget in place of options.thinking"},
	{"tool_choice", "with structured_output: tool a tool is forced: json_schema or prompt do without"},
	{"output_config.format", "options.structured_output: prompt does without"},
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
	_ = json.Unmarshal(body, &shape) // of another shape: there is none
	return shape.RequestID
}

// reported types an error that came with status 200: in a stream, or in place of a reply.
func reported(body []byte) *engine.ModelError {
	e := call.Bad("%s", call.Said(body))
	e.Kind, e.RequestID = engine.ServerError, requestID(body)
	if kind := named(body); kind != "" {
		e.Kind = kind
	}
	return e
}

// types are what the API calls its errors.
var types = map[string]engine.ErrorKind{
	"invalid_request_error": engine.BadRequest,
	"authentication_error":  engine.AuthError,
	"billing_error":         engine.AuthError,
	"permission_error":      engine.AuthError,
	"not_found_error":       engine.NotFound,
	"request_too_large":     engine.ContextTooLong,
	"rate_limit_error":      engine.RateLimited,
	"api_error":             engine.ServerError,
	"timeout_error":         engine.ServerError,
	"overloaded_error":      engine.Overloaded,
}

// words are what messages say that types do not.
var words = call.Words{
	{"prompt is too long", engine.ContextTooLong},
	{"exceed context limit", engine.ContextTooLong},
	{"context window", engine.ContextTooLong},
	{"maximum context length", engine.ContextTooLong},
	{"exceeds the available context", engine.ContextTooLong},
	{"credit balance is too low", engine.AuthError},
}

// named finds the kind of an error in what the server says of it, "" where it
// says nothing known. Bodies may quote the request: only the message counts.
func named(body []byte) engine.ErrorKind {
	if kind := words.Kind(wire.Explain(body)); kind != "" {
		return kind
	}
	var shape struct{ Error struct{ Type string } }
	_ = json.Unmarshal(body, &shape) // of another shape: it has no type
	return types[shape.Error.Type]
}
