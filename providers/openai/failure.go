package openai

import (
	"errors"

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
		return words.Reported(event.Event.Data)
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
	e.Kind = words.Refused(w, e.Kind)
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
