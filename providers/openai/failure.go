package openai

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/openai/openai-go/v3/packages/ssestream"
	"github.com/pexctl/pex/engine/model"
	"github.com/pexctl/pex/internal/httpclient"
	"github.com/pexctl/pex/providers/modelhttp"
)

// typed says what a failure of one attempt means.
func typed(err error) *model.Error {
	if sent, ok := errors.AsType[*httpclient.Error](err); ok {
		return refused(sent)
	}
	if event, ok := errors.AsType[*ssestream.StreamError](err); ok {
		return words.Reported(event.Event.Data)
	}
	return nil
}

// tell adds what the vendor's users would be told.
func (m *chatModel) tell(known *model.Error, _ error) {
	if m.dialect.hint == nil {
		return
	}
	if way := m.dialect.hint(known, m.name); way != "" {
		known.Message += " (" + way + ")"
	}
}

// refused types a request that the transport reports as failed.
func refused(w *httpclient.Error) *model.Error {
	e := modelhttp.Refused(w)
	if w.Status == 0 {
		return e
	}
	e.Kind = words.Refused(w, e.Kind)
	return e
}

// words are the names of errors, in code, type and message, that say more than
// the status does.
var words = modelhttp.ErrorWords{
	{"context_length_exceeded", model.ContextTooLong},
	{"exceed_context_size", model.ContextTooLong},
	{"maximum context length", model.ContextTooLong},
	{"exceeds the available context", model.ContextTooLong},
	{"context window", model.ContextTooLong},
	{"prompt is too long", model.ContextTooLong},
	{"string_above_max_length", model.ContextTooLong},
	{"insufficient_quota", model.AuthError},
	{"billing_hard_limit", model.AuthError},
	{"invalid_api_key", model.AuthError},
	{"model_not_found", model.NotFound},
	{"invalid_model", model.NotFound},
	{"rate_limit", model.RateLimited},
	{"overloaded", model.Overloaded},
}

// filtered is the reply of a server whose filter let no prompt through to the
// model, which Azure says by an error; nil where err says something else. The
// filter's words are its text: no model said any.
func filtered(ctx context.Context, req *model.Request, err error) *model.Reply {
	var sent *httpclient.Error
	var event *ssestream.StreamError
	var body []byte
	switch {
	case ctx.Err() != nil:
	case errors.As(err, &sent):
		body = sent.Body
	case errors.As(err, &event):
		body = event.Event.Data
	}
	var shape struct {
		Error struct {
			Code       any
			InnerError struct{ Code string }
		}
	}
	if json.Unmarshal(body, &shape) != nil ||
		shape.Error.Code != "content_filter" && shape.Error.InnerError.Code != "ResponsibleAIPolicyViolation" {
		return nil
	}
	return &model.Reply{
		Text: httpclient.Explain(body), Stop: model.ContentFiltered,
		Usage: model.Tokens{Input: req.Estimate()}, Estimated: true,
	}
}
