package openai

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"github.com/openai/openai-go/v3/packages/ssestream"

	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/internal/wire"
	"github.com/pexctl/pex/providers/call"
)

// typed says what a failure of one attempt means.
func typed(err error) *engine.ModelError {
	if sent, ok := errors.AsType[*wire.Error](err); ok {
		return refused(sent)
	}
	if event, ok := errors.AsType[*ssestream.StreamError](err); ok {
		return reported(event.Event.Data)
	}
	return nil
}

// tell adds what the vendor's users would be told.
func (m *model) tell(known *engine.ModelError, _ error) {
	if m.dialect.hint == nil {
		return
	}
	if way := m.dialect.hint(known, m.name); way != "" {
		known.Message += " (" + way + ")"
	}
}

// refused types a request that the transport reports as failed.
func refused(w *wire.Error) *engine.ModelError {
	e := call.Refused(w)
	if w.Status == 0 {
		return e
	}
	if kind := named(w.Body); kind != "" && w.Status < http.StatusInternalServerError || kind == engine.ContextTooLong {
		e.Kind = kind
	}
	return e
}

// reported types an error that came with status 200: in a stream, or in place of a reply.
func reported(body []byte) *engine.ModelError {
	e := &engine.ModelError{Kind: engine.ServerError, Message: wire.Explain(body)}
	var shape struct {
		Error struct{ Code, Status json.RawMessage }
	}
	_ = json.Unmarshal(body, &shape) // of another shape: the kind stays
	for _, raw := range []json.RawMessage{shape.Error.Status, shape.Error.Code} {
		if status, err := strconv.Atoi(strings.Trim(string(raw), `"`)); err == nil && status >= 400 && status < 600 {
			e.Status, e.Kind = status, engine.ErrorKind(wire.KindOf(status))
		}
	}
	if kind := named(body); kind != "" {
		e.Kind = kind
	}
	return e
}

// words are the names of errors, in code, type and message, that say more than
// the status does.
var words = call.Words{
	{"context_length_exceeded", engine.ContextTooLong},
	{"exceed_context_size", engine.ContextTooLong},
	{"maximum context length", engine.ContextTooLong},
	{"exceeds the available context", engine.ContextTooLong},
	{"context window", engine.ContextTooLong},
	{"prompt is too long", engine.ContextTooLong},
	{"string_above_max_length", engine.ContextTooLong},
	{"insufficient_quota", engine.AuthError},
	{"billing_hard_limit", engine.AuthError},
	{"invalid_api_key", engine.AuthError},
	{"model_not_found", engine.NotFound},
	{"invalid_model", engine.NotFound},
	{"rate_limit", engine.RateLimited},
	{"overloaded", engine.Overloaded},
}

// named finds the kind of an error in its words, "" where none is known. Only
// what the server says of the error counts: bodies may quote the request.
func named(body []byte) engine.ErrorKind {
	var shape struct {
		Code, Type any
		Error      struct{ Code, Type any }
	}
	_ = json.Unmarshal(body, &shape) // of another shape: the sentence is left
	return words.Kind(fmt.Sprintln(shape.Code, shape.Type, shape.Error.Code, shape.Error.Type, wire.Explain(body)))
}
