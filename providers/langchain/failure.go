package langchain

import (
	"cmp"
	"encoding/json"
	"errors"

	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/internal/wire"
	"github.com/pexctl/pex/providers/call"
)

// typed says what a failure of one attempt means.
func (m *model) typed(err error) *engine.ModelError {
	sent, ok := errors.AsType[*wire.Error](err)
	if !ok {
		return nil
	}
	e := call.Refused(sent)
	if sent.Status == 0 {
		return e
	}
	var a answer
	_ = json.Unmarshal(sent.Body, &a) // of another shape: as the transport reads it
	e.Message = cmp.Or(a.Message, sent.Message)
	kind := words.Kind(e.Message)
	switch e.Kind { // of keys and rates the status says enough
	case engine.BadRequest, engine.NotFound, engine.ContextTooLong:
		e.Kind = cmp.Or(kind, e.Kind)
	case engine.ServerError, engine.Overloaded:
		if kind == engine.ContextTooLong {
			e.Kind = kind
		}
	default:
	}
	if e.Kind == engine.NotFound {
		asked := *m.base
		asked.User, asked.RawQuery, asked.Fragment = nil, "", ""
		e.Message += " (asked " + asked.String() + " for model " + m.name + ")"
	}
	return e
}

// kindOf is the class of an error by its number: refusals come with status 200.
func kindOf(code int, message string) engine.ErrorKind {
	switch code {
	case 1, 336000:
		return engine.ServerError
	case 2, 336100:
		return engine.Overloaded
	case 4, 18, 336501, 336502:
		return engine.RateLimited
	case 6, 13, 14, 15, 17, 19, 100, 110, 111, 336004, 336005: // keys, permissions, and quotas that a wait does not fill
		return engine.AuthError
	case 3:
		return engine.NotFound
	case 336007, 336103:
		return engine.ContextTooLong
	}
	return cmp.Or(words.Kind(message), engine.BadRequest)
}

// words are what servers say of errors that says more than the status does.
var words = call.Words{
	{"context length", engine.ContextTooLong},
	{"context window", engine.ContextTooLong},
	{"context size", engine.ContextTooLong},
	{"too many tokens", engine.ContextTooLong},
	{"tokens too long", engine.ContextTooLong},
	{"is too long", engine.ContextTooLong},
	{"model not found", engine.NotFound},
	{"no such model", engine.NotFound},
}
