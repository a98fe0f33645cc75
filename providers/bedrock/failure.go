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
	"github.com/pexctl/pex/engine/model"
	"github.com/pexctl/pex/internal/httpclient"
	"github.com/pexctl/pex/providers/modelhttp"
)

// streamError is what ended a stream of a request.
type streamError struct {
	error
	request string
}

func (e *streamError) Unwrap() error { return e.error }

// typed says what a failure of one attempt means.
func (m *chatModel) typed(err error) *model.Error {
	if sent, ok := errors.AsType[*httpclient.Error](err); ok {
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
func (m *chatModel) tell(known *model.Error, err error) {
	if stream, ok := errors.AsType[*streamError](err); ok && known.RequestID == "" {
		known.RequestID = stream.request
	}
	known.Message = m.access.hide(known.Message)
}

// refused types a request that the transport reports as failed.
func (m *chatModel) refused(w *httpclient.Error) *model.Error {
	e := modelhttp.Refused(w)
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
	if e.Kind == model.NotFound {
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
func reported(err smithy.APIError) *model.Error {
	name, message := err.ErrorCode(), err.ErrorMessage()
	original := 0
	if broke, ok := errors.AsType[*types.ModelStreamErrorException](err); ok {
		original = number(broke.OriginalStatusCode)
		if more := deref(broke.OriginalMessage); more != "" && !strings.Contains(message, more) {
			message += ": " + more
		}
	}
	e := &model.Error{Kind: kindOf(name, model.ServerError, original), Message: name}
	if message != "" {
		e.Kind = worded(message, e.Kind)
		e.Message += ": " + message
	}
	return e
}

// kindOf is the kind of an exception; otherwise where the name is new.
func kindOf(name string, otherwise model.ErrorKind, original int) model.ErrorKind {
	switch strings.ToLower(strings.TrimSuffix(strings.TrimSuffix(name, "Exception"), "Error")) {
	case "throttling", "throttled", "toomanyrequests", "servicequotaexceeded", "requestlimitexceeded":
		return model.RateLimited
	case "serviceunavailable", "modelnotready", "overloaded":
		return model.Overloaded
	case "modeltimeout":
		return model.CallTimeout
	case "model", "modelstream":
		if original >= http.StatusBadRequest {
			return httpclient.KindOf(original)
		}
		return model.ServerError
	case "internalserver", "internalfailure":
		return model.ServerError
	case "resourcenotfound", "unknownoperation", "ftuformnotfilled":
		return model.NotFound
	case "validation", "serialization", "conflict", "invalidaction":
		return model.BadRequest
	case "accessdenied", "unrecognizedclient", "invalidclienttokenid", "invalidsignature", "signaturedoesnotmatch",
		"incompletesignature", "missingauthenticationtoken", "expiredtoken", "requestexpired", "notauthorized", "optinrequired":
		return model.AuthError
	}
	return otherwise
}

// sentences are words by which Bedrock and the models behind it say more than
// the exception does.
var sentences = modelhttp.ErrorWords{
	{"input is too long", model.ContextTooLong},
	{"prompt is too long", model.ContextTooLong},
	{"exceed context limit", model.ContextTooLong},
	{"context window", model.ContextTooLong},
	{"maximum context length", model.ContextTooLong},
	{"too many total text bytes", model.ContextTooLong},
	{"too many input tokens", model.ContextTooLong},
	{"input tokens exceeded", model.ContextTooLong},
	{"number of input tokens exceeds", model.ContextTooLong},
	{"exceeds the maximum number of tokens", model.ContextTooLong},
	{"model identifier is invalid", model.NotFound},
	{"on-demand throughput", model.NotFound},
}

// worded looks at what a refused request is told. Other failures may quote it.
func worded(message string, kind model.ErrorKind) model.ErrorKind {
	if kind != model.BadRequest && kind != model.ServerError {
		return kind
	}
	return cmp.Or(sentences.Kind(message), kind)
}
