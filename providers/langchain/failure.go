package langchain

import (
	"cmp"
	"encoding/json"
	"errors"

	"github.com/pexctl/pex/engine/model"
	"github.com/pexctl/pex/internal/httpclient"
	"github.com/pexctl/pex/providers/modelhttp"
)

// typed says what a failure of one attempt means.
func (m *chatModel) typed(err error) *model.Error {
	sent, ok := errors.AsType[*httpclient.Error](err)
	if !ok {
		return nil
	}
	e := modelhttp.TransportError(sent)
	if sent.Status == 0 {
		return e
	}
	var a answer
	_ = json.Unmarshal(sent.Body, &a) // of another shape: as the transport reads it
	e.Message = cmp.Or(a.Message, sent.Message)
	kind := words.Kind(e.Message)
	switch e.Kind { // of keys and rates the status says enough
	case model.BadRequest, model.NotFound, model.ContextTooLong:
		e.Kind = cmp.Or(kind, e.Kind)
	case model.ServerError, model.Overloaded:
		if kind == model.ContextTooLong {
			e.Kind = kind
		}
	default:
	}
	if e.Kind == model.NotFound {
		asked := *m.base
		asked.User, asked.RawQuery, asked.Fragment = nil, "", ""
		e.Message += " (asked " + asked.String() + " for model " + m.name + ")"
	}
	return e
}

// kindOf is the class of an error by its number: refusals come with status 200.
func kindOf(code int, message string) model.ErrorKind {
	switch code {
	case 1, 336000:
		return model.ServerError
	case 2, 336100:
		return model.Overloaded
	case 4, 18, 336501, 336502:
		return model.RateLimited
	case 6, 13, 14, 15, 17, 19, 100, 110, 111, 336004, 336005: // keys, permissions, and quotas that a wait does not fill
		return model.AuthError
	case 3:
		return model.NotFound
	case 336007, 336103:
		return model.ContextTooLong
	}
	return cmp.Or(words.Kind(message), model.BadRequest)
}

// words are what servers say of errors that says more than the status does.
var words = modelhttp.ErrorWords{
	{"context length", model.ContextTooLong},
	{"context window", model.ContextTooLong},
	{"context size", model.ContextTooLong},
	{"too many tokens", model.ContextTooLong},
	{"tokens too long", model.ContextTooLong},
	{"is too long", model.ContextTooLong},
	{"model not found", model.NotFound},
	{"no such model", model.NotFound},
}
