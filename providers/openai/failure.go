package openai

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"github.com/openai/openai-go/v3/packages/ssestream"

	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/internal/wire"
)

// failure types what went wrong in one attempt. An attempt that ctx ended
// keeps its error: the transport wraps ctx's.
func (m *model) failure(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return err
	}
	var known *engine.ModelError
	var sent *wire.Error
	var event *ssestream.StreamError
	switch {
	case errors.As(err, &known):
	case errors.As(err, &sent):
		known = refused(sent)
	case errors.As(err, &event):
		known = reported(event.Event.Data)
	default:
		known = bad("the server's answer cannot be read: %s", err)
		known.Err = err
	}
	if m.dialect.hint != nil {
		if way := m.dialect.hint(known, m.name); way != "" {
			known.Message += " (" + way + ")"
		}
	}
	known.Message = m.wire.Redact(known.Message)
	return known
}

// again says whether the same request may succeed a moment later.
func again(err error) bool {
	var e *engine.ModelError
	var sent *wire.Error
	if errors.As(err, &sent) && sent.Final {
		return false
	}
	return errors.As(err, &e) && e.Retryable()
}

// refused types a request that the transport reports as failed.
func refused(w *wire.Error) *engine.ModelError {
	e := &engine.ModelError{
		Kind: engine.ErrorKind(w.Kind), Status: w.Status, RetryAfter: w.RetryAfter,
		Message: w.Message, RequestID: w.RequestID, Err: w,
	}
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
// the status does. The first that occurs counts.
var words = []struct {
	text string
	kind engine.ErrorKind
}{
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
	text := strings.ToLower(fmt.Sprintln(shape.Code, shape.Type, shape.Error.Code, shape.Error.Type, wire.Explain(body)))
	for _, w := range words {
		if strings.Contains(text, w.text) {
			return w.kind
		}
	}
	return ""
}

func bad(format string, args ...any) *engine.ModelError {
	return &engine.ModelError{Kind: engine.BadReply, Message: fmt.Sprintf(format, args...)}
}
