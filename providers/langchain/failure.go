package langchain

import (
	"cmp"
	"encoding/json"
	"errors"
	"net/url"

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
	e.Message = explained(sent)
	e.Kind = cmp.Or(saying(e), e.Kind)
	if e.Kind == engine.NotFound {
		asked := url.URL{Scheme: m.base.Scheme, Host: m.base.Host, Path: m.base.Path}
		e.Message += " (asked " + asked.String() + " for model " + m.place.model + ")"
	}
	return e
}

// saying is the kind of a refusal whose words say more than its status, "" of
// any other: of keys and rates the status says enough.
func saying(e *engine.ModelError) engine.ErrorKind {
	kind := words.Kind(e.Message)
	switch e.Kind {
	case engine.BadRequest, engine.NotFound, engine.ContextTooLong:
		return kind
	case engine.ServerError, engine.Overloaded:
		if kind == engine.ContextTooLong {
			return kind
		}
	default:
	}
	return ""
}

// explained is the sentence of a refusal. Cloudflare has a list of them, Baidu
// a field of its own.
func explained(sent *wire.Error) string {
	var shape struct {
		Errors []struct{ Message string }
		Said   string `json:"error_msg"`
	}
	_ = json.Unmarshal(sent.Body, &shape) // of another shape: as the transport reads it
	switch {
	case len(shape.Errors) > 0 && shape.Errors[0].Message != "":
		return shape.Errors[0].Message
	case shape.Said != "":
		return shape.Said
	}
	return sent.Message
}

// reported types an error that came with status 200 in place of a reply.
func reported(answer []byte) *engine.ModelError {
	e := &engine.ModelError{Kind: engine.ServerError, Message: wire.Explain(answer)}
	e.Kind = cmp.Or(words.Kind(e.Message), e.Kind)
	return e
}

// given says that a field of an answer is there, and holds something.
func given(field json.RawMessage) bool { return len(field) > 0 && string(field) != "null" }

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
