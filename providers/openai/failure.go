package openai

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/pexctl/pex/engine/model"
	"github.com/pexctl/pex/internal/httpclient"
	"github.com/pexctl/pex/providers/modelhttp"
)

// typed converts the error of one attempt.
func typed(err error) *model.Error {
	if sent, ok := errors.AsType[*httpclient.Error](err); ok {
		return refused(sent)
	}
	if event, ok := errors.AsType[*streamError](err); ok {
		return words.ParseError(event.body)
	}
	return nil
}

// explain adds the vendor's hint to an error.
func (m *chatModel) explain(known *model.Error, _ error) {
	if m.dialect.hint == nil {
		return
	}
	if hint := m.dialect.hint(known, m.name); hint != "" {
		known.Message += " (" + hint + ")"
	}
}

// refused converts the error of a request that the server refused, or did not receive.
func refused(w *httpclient.Error) *model.Error {
	e := modelhttp.TransportError(w)
	if w.Status == 0 {
		return e
	}
	e.Kind = words.KindOfRefused(w, e.Kind)
	return e
}

// words maps words in the code, type or message of an error to kinds that are more
// specific than the status.
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

// filtered returns a reply for an error by which Azure reports that a content filter
// blocked the prompt, and nil for other errors. Its text is the message of the filter.
func filtered(ctx context.Context, req *model.Request, err error) *model.Reply {
	var sent *httpclient.Error
	var event *streamError
	var body []byte
	switch {
	case ctx.Err() != nil:
	case errors.As(err, &sent):
		body = sent.Body
	case errors.As(err, &event):
		body = event.body
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
