package langchain

import (
	"cmp"
	"encoding/json"
	"errors"

	"github.com/pexctl/pex/engine/model"
	"github.com/pexctl/pex/internal/httpclient"
	"github.com/pexctl/pex/providers/modelhttp"
)

// typeError converts a failure of one attempt.
func (m *chatModel) typeError(err error) *model.Error {
	failed, ok := errors.AsType[*httpclient.Error](err)
	if !ok {
		return nil
	}
	e := modelhttp.TransportError(failed)
	if failed.Status == 0 {
		return e
	}
	var a answer
	_ = json.Unmarshal(failed.Body, &a) // another format: use the transport's message
	e.Message = cmp.Or(a.Message, failed.Message)
	kind := errorTexts.Kind(e.Message)
	switch e.Kind { // for keys and rate limits the status is specific enough
	case model.BadRequest, model.NotFound, model.ContextTooLong:
		e.Kind = cmp.Or(kind, e.Kind)
	case model.ServerError, model.Overloaded:
		if kind == model.ContextTooLong {
			e.Kind = kind
		}
	default:
	}
	if e.Kind == model.NotFound {
		address := *m.base
		address.User, address.RawQuery, address.Fragment = nil, "", ""
		e.Message += " (model " + m.name + " at " + address.String() + ")"
	}
	return e
}

// kindOf returns the kind of an error by its code, since errors come with status 200.
func kindOf(code int, message string) model.ErrorKind {
	switch code {
	case 1, 336000:
		return model.ServerError
	case 2, 336100:
		return model.Overloaded
	case 4, 18, 336501, 336502:
		return model.RateLimited
	case 6, 13, 14, 15, 17, 19, 100, 110, 111, 336004, 336005: // keys, permissions, and quotas that do not refill
		return model.AuthError
	case 3:
		return model.NotFound
	case 336007, 336103:
		return model.ContextTooLong
	}
	return cmp.Or(errorTexts.Kind(message), model.BadRequest)
}

// errorTexts are texts of errors that are more specific than the status.
var errorTexts = modelhttp.ErrorWords{
	{"context length", model.ContextTooLong},
	{"context window", model.ContextTooLong},
	{"context size", model.ContextTooLong},
	{"too many tokens", model.ContextTooLong},
	{"tokens too long", model.ContextTooLong},
	{"is too long", model.ContextTooLong},
	{"model not found", model.NotFound},
	{"no such model", model.NotFound},
}
