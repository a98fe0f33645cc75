package bedrock

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/bedrockruntime/types"
	"github.com/aws/smithy-go"

	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/internal/wire"
	"github.com/pexctl/pex/providers/call"
)

// streamError is what ended a stream of a request.
type streamError struct {
	error
	request string
}

func (e *streamError) Unwrap() error { return e.error }

// typed says what a failure of one attempt means.
func (m *model) typed(err error) *engine.ModelError {
	if sent, ok := errors.AsType[*wire.Error](err); ok {
		return m.refused(sent)
	}
	var named smithy.APIError
	if !errors.As(err, &named) {
		return nil
	}
	known := reported(named)
	known.Err = err
	return known
}

// tell adds the name of the request whose stream broke, and hides keys.
func (m *model) tell(known *engine.ModelError, err error) {
	if stream, ok := errors.AsType[*streamError](err); ok && known.RequestID == "" {
		known.RequestID = stream.request
	}
	known.Message = m.access.hide(known.Message)
}

// refused types a request that the transport reports as failed.
func (m *model) refused(w *wire.Error) *engine.ModelError {
	e := call.Refused(w)
	if w.Status == 0 {
		return e
	}
	var body struct {
		Type               string `json:"__type"`
		Code               string
		OriginalStatusCode int
	}
	_ = json.Unmarshal(w.Body, &body) // of another shape: the header and the status are left
	for _, name := range []string{w.Code, body.Type, body.Code} {
		if name = plain(name); name != "" {
			e.Kind = kindOf(name, e.Kind, body.OriginalStatusCode)
			e.Message = name + ": " + w.Message
			break
		}
	}
	e.Kind = worded(w.Message, e.Kind)
	if e.Kind == engine.NotFound {
		e.Message += fmt.Sprintf(" (asked for model %s at %s)", m.name, m.access.where())
	}
	return e
}

// plain is an exception's name without the namespace before it and the address
// behind it.
func plain(name string) string {
	name, _, _ = strings.Cut(name, ":")
	return name[strings.LastIndex(name, "#")+1:]
}

// reported types an exception that came in a stream.
func reported(err smithy.APIError) *engine.ModelError {
	name, message := err.ErrorCode(), err.ErrorMessage()
	original := 0
	if broke, ok := errors.AsType[*types.ModelStreamErrorException](err); ok {
		original = number(broke.OriginalStatusCode)
		if more := deref(broke.OriginalMessage); more != "" && !strings.Contains(message, more) {
			message += ": " + more
		}
	}
	e := &engine.ModelError{Kind: kindOf(name, engine.ServerError, original), Message: name}
	if message != "" {
		e.Kind = worded(message, e.Kind)
		e.Message += ": " + message
	}
	return e
}

// kindOf is the kind of an exception; otherwise where the name is new.
func kindOf(name string, otherwise engine.ErrorKind, original int) engine.ErrorKind {
	switch strings.ToLower(strings.TrimSuffix(strings.TrimSuffix(name, "Exception"), "Error")) {
	case "throttling", "throttled", "toomanyrequests", "servicequotaexceeded", "requestlimitexceeded":
		return engine.RateLimited
	case "serviceunavailable", "modelnotready", "overloaded":
		return engine.Overloaded
	case "modeltimeout":
		return engine.CallTimeout
	case "model", "modelstream":
		if original >= http.StatusBadRequest {
			return engine.ErrorKind(wire.KindOf(original))
		}
		return engine.ServerError
	case "internalserver", "internalfailure":
		return engine.ServerError
	case "resourcenotfound", "unknownoperation", "ftuformnotfilled":
		return engine.NotFound
	case "validation", "serialization", "conflict", "invalidaction":
		return engine.BadRequest
	case "accessdenied", "unrecognizedclient", "invalidclienttokenid", "invalidsignature", "signaturedoesnotmatch",
		"incompletesignature", "missingauthenticationtoken", "expiredtoken", "requestexpired", "notauthorized", "optinrequired":
		return engine.AuthError
	}
	return otherwise
}

// sentences are words by which Bedrock and the models behind it say more than
// the exception does.
var sentences = call.Words{
	{"input is too long", engine.ContextTooLong},
	{"prompt is too long", engine.ContextTooLong},
	{"exceed context limit", engine.ContextTooLong},
	{"context window", engine.ContextTooLong},
	{"maximum context length", engine.ContextTooLong},
	{"too many total text bytes", engine.ContextTooLong},
	{"too many input tokens", engine.ContextTooLong},
	{"input tokens exceeded", engine.ContextTooLong},
	{"number of input tokens exceeds", engine.ContextTooLong},
	{"exceeds the maximum number of tokens", engine.ContextTooLong},
	{"model identifier is invalid", engine.NotFound},
	{"on-demand throughput", engine.NotFound},
}

// worded looks at what a refused request is told. Other failures may quote it.
func worded(message string, kind engine.ErrorKind) engine.ErrorKind {
	if kind != engine.BadRequest && kind != engine.ServerError {
		return kind
	}
	return cmp.Or(sentences.Kind(message), kind)
}
