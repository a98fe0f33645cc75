package genai

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"time"

	"github.com/pexctl/pex/engine/model"
	"github.com/pexctl/pex/engine/text"
	"github.com/pexctl/pex/internal/httpclient"
	"github.com/pexctl/pex/providers/modelhttp"
)

// typeError converts a failure of one attempt.
func (m *chatModel) typeError(err error) *model.Error {
	if failed, ok := errors.AsType[*httpclient.Error](err); ok {
		return m.refused(failed)
	}
	return nil
}

// refused converts a failure reported by the transport.
func (m *chatModel) refused(w *httpclient.Error) *model.Error {
	e := modelhttp.TransportError(w)
	if w.Status != 0 {
		f, text := explained(w.Body)
		if text != "" {
			e.Message = text
		}
		if kind := f.kind(); kind != "" && (w.Status < http.StatusInternalServerError || kind == model.ContextTooLong) {
			e.Kind = kind
		}
		// The body may say how long to wait. The transport does the waiting and reads it from its own error.
		if wait := f.delay(); wait > w.RetryAfter {
			w.RetryAfter = min(wait, httpclient.MaxRetryAfter)
		}
	}
	e.RetryAfter = w.RetryAfter
	if e.Kind == model.NotFound {
		e.Message += fmt.Sprintf(" (model %s at %s)", m.name, m.base.Redacted())
	}
	return e
}

// reported converts an error with status 200, in a stream or instead of a reply.
func reported(body []byte) *model.Error {
	f, text := explained(body)
	e := &model.Error{Message: text}
	if text == "" {
		e = modelhttp.Bad("%s", modelhttp.ErrorBody(body))
	}
	e.Kind = model.ServerError
	if wait := min(f.delay(), httpclient.MaxRetryAfter); wait > 0 {
		e.RetryAfter, e.Err = wait, &httpclient.Error{RetryAfter: wait, Message: e.Message}
	}
	if code := f.Error.Code; code >= 400 && code < 600 {
		e.Status, e.Kind = code, httpclient.KindOf(code)
	} else if kind, ok := statuses[f.Error.Status]; ok {
		e.Kind = kind
	}
	if kind := f.kind(); kind != "" {
		e.Kind = kind
	}
	return e
}

// explained parses the body of an error and returns its message. When streaming, the error is in a list.
func explained(body []byte) (f errorBody, message string) {
	items, err := list(body)
	if err != nil || json.Unmarshal(items[0], &f) != nil {
		return errorBody{}, ""
	}
	return f, text.OneLine(f.Error.Message)
}

// delay returns how long the server asks to wait, or 0.
func (f errorBody) delay() time.Duration {
	for _, d := range f.Error.Details {
		if wait, err := time.ParseDuration(d.RetryDelay); err == nil && wait > 0 {
			return wait
		}
	}
	return 0
}

// statuses maps the API's error statuses, for errors without an HTTP status.
var statuses = map[string]model.ErrorKind{
	"INVALID_ARGUMENT": model.BadRequest, "FAILED_PRECONDITION": model.BadRequest, "OUT_OF_RANGE": model.BadRequest,
	"UNAUTHENTICATED": model.AuthError, "PERMISSION_DENIED": model.AuthError, "NOT_FOUND": model.NotFound,
	"RESOURCE_EXHAUSTED": model.RateLimited, "UNAVAILABLE": model.Overloaded,
	"CANCELLED": model.ServerError, "ABORTED": model.ServerError, "DEADLINE_EXCEEDED": model.ServerError,
}

// errorTexts are texts of errors that are more specific than the status. The first match counts.
var errorTexts = []struct {
	text func() *regexp.Regexp
	kind model.ErrorKind
}{
	{text.Regexp(`exceeds the maximum number of tokens|request payload size exceeds`), model.ContextTooLong},
	{text.Regexp(`api key not valid|api key expired|api_key_invalid|api_key_service_blocked`), model.AuthError},
	{text.Regexp(`user location is not supported|credits are depleted|enable billing`), model.AuthError},
	{text.Regexp(`quota exceeded.*limit: 0\b`), model.AuthError}, // the plan does not include this model
}

// kind returns the kind of an error by its texts, or "".
func (f errorBody) kind() model.ErrorKind {
	message := f.Error.Message
	for _, d := range f.Error.Details {
		message += " " + d.Reason
	}
	message = strings.ToLower(text.OneLine(message))
	for _, w := range errorTexts {
		if w.text().MatchString(message) {
			return w.kind
		}
	}
	if f.Error.Status == "CANCELLED" {
		return model.ServerError
	}
	return ""
}
