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

// streamError is an error in the stream of a request.
type streamError struct {
	error
	request string
}

func (e *streamError) Unwrap() error { return e.error }

// typeError converts a failure of one attempt.
func (m *chatModel) typeError(err error) *model.Error {
	if failed, ok := errors.AsType[*httpclient.Error](err); ok {
		return m.refused(failed)
	}
	var named smithy.APIError
	if !errors.As(err, &named) {
		return nil
	}
	known := reported(named)
	known.Err = err
	return known
}

// explain adds the id of the request whose stream broke, and redacts secrets.
func (m *chatModel) explain(known *model.Error, err error) {
	if stream, ok := errors.AsType[*streamError](err); ok && known.RequestID == "" {
		known.RequestID = stream.request
	}
	known.Message = m.access.redact(known.Message)
}

// refused converts a failure reported by the transport.
func (m *chatModel) refused(w *httpclient.Error) *model.Error {
	e := modelhttp.TransportError(w)
	if w.Status == 0 {
		return e
	}
	var body struct {
		Type               string `json:"__type"`
		Code               string
		OriginalStatusCode int
	}
	_ = json.Unmarshal(w.Body, &body) // another format: the header and the status remain
	for _, name := range []string{w.Code, body.Type, body.Code} {
		if name = plainName(name); name != "" {
			e.Kind = kindOf(name, e.Kind, body.OriginalStatusCode)
			e.Message = name + ": " + w.Message
			break
		}
	}
	e.Kind = kindOfMessage(w.Message, e.Kind)
	if e.Kind == model.NotFound {
		e.Message += fmt.Sprintf(" (model %s at %s)", m.name, m.access.location())
	}
	return e
}

// plainName returns an exception's name without namespace and URL.
func plainName(name string) string {
	name, _, _ = strings.Cut(name, ":")
	return name[strings.LastIndex(name, "#")+1:]
}

// reported converts an exception in a stream.
func reported(err smithy.APIError) *model.Error {
	name, message := err.ErrorCode(), err.ErrorMessage()
	original := 0
	if e, ok := errors.AsType[*types.ModelStreamErrorException](err); ok {
		original = intOf(e.OriginalStatusCode)
		if more := deref(e.OriginalMessage); more != "" && !strings.Contains(message, more) {
			message += ": " + more
		}
	}
	e := &model.Error{Kind: kindOf(name, model.ServerError, original), Message: name}
	if message != "" {
		e.Kind = kindOfMessage(message, e.Kind)
		e.Message += ": " + message
	}
	return e
}

// kindOf returns the kind of an exception, or fallback if the name is unknown.
func kindOf(name string, fallback model.ErrorKind, original int) model.ErrorKind {
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
	return fallback
}

// errorTexts are texts of Bedrock and its models that are more specific than the exception.
var errorTexts = modelhttp.ErrorWords{
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

// kindOfMessage refines the kind of a rejected request by its message. Messages of other failures may quote the request.
func kindOfMessage(message string, kind model.ErrorKind) model.ErrorKind {
	if kind != model.BadRequest && kind != model.ServerError {
		return kind
	}
	return cmp.Or(errorTexts.Kind(message), kind)
}
