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

// typed says what a failure of one attempt means.
func (m *chatModel) typed(err error) *model.Error {
	if sent, ok := errors.AsType[*httpclient.Error](err); ok {
		return m.refused(sent)
	}
	return nil
}

// refused types a request that the transport reports as failed.
func (m *chatModel) refused(w *httpclient.Error) *model.Error {
	e := modelhttp.Refused(w)
	if w.Status != 0 {
		f, text := explained(w.Body)
		if text != "" {
			e.Message = text
		}
		if kind := f.named(); kind != "" && (w.Status < http.StatusInternalServerError || kind == model.ContextTooLong) {
			e.Kind = kind
		}
		// The API says in the body how long to wait. The transport, which does
		// the waiting, looks into its own error.
		if wait := f.delay(); wait > w.RetryAfter {
			w.RetryAfter = min(wait, httpclient.MaxRetryAfter)
		}
	}
	e.RetryAfter = w.RetryAfter
	if e.Kind == model.NotFound {
		e.Message += fmt.Sprintf(" (asked %s for model %s)", m.base.Redacted(), m.name)
	}
	return e
}

// reported types an error that came with status 200: in a stream, or in place of a reply.
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
	if kind := f.named(); kind != "" {
		e.Kind = kind
	}
	return e
}

// explained reads the body of an error, which is in a list where a stream was
// asked for, and its sentence.
func explained(body []byte) (f fault, message string) {
	pieces, err := list(body)
	if err != nil || json.Unmarshal(pieces[0], &f) != nil {
		return fault{}, ""
	}
	return f, text.OneLine(f.Error.Message)
}

// delay is how long the server asks to wait, 0 where it does not say.
func (f fault) delay() time.Duration {
	for _, d := range f.Error.Details {
		if wait, err := time.ParseDuration(d.RetryDelay); err == nil && wait > 0 {
			return wait
		}
	}
	return 0
}

// statuses are the API's own words where no HTTP status came, or one of its own.
var statuses = map[string]model.ErrorKind{
	"INVALID_ARGUMENT": model.BadRequest, "FAILED_PRECONDITION": model.BadRequest, "OUT_OF_RANGE": model.BadRequest,
	"UNAUTHENTICATED": model.AuthError, "PERMISSION_DENIED": model.AuthError, "NOT_FOUND": model.NotFound,
	"RESOURCE_EXHAUSTED": model.RateLimited, "UNAVAILABLE": model.Overloaded,
	"CANCELLED": model.ServerError, "ABORTED": model.ServerError, "DEADLINE_EXCEEDED": model.ServerError,
}

// words are what errors say of themselves that says more than the status does.
// The first that occurs counts.
var words = []struct {
	text func() *regexp.Regexp
	kind model.ErrorKind
}{
	{text.Regexp(`exceeds the maximum number of tokens|request payload size exceeds`), model.ContextTooLong},
	{text.Regexp(`api key not valid|api key expired|api_key_invalid|api_key_service_blocked`), model.AuthError},
	{text.Regexp(`user location is not supported|credits are depleted|enable billing`), model.AuthError},
	{text.Regexp(`quota exceeded.*limit: 0\b`), model.AuthError}, // the plan has none of this model
}

// named finds the kind of an error in its words, "" where none is known.
func (f fault) named() model.ErrorKind {
	message := f.Error.Message
	for _, d := range f.Error.Details {
		message += " " + d.Reason
	}
	message = strings.ToLower(text.OneLine(message))
	for _, w := range words {
		if w.text().MatchString(message) {
			return w.kind
		}
	}
	if f.Error.Status == "CANCELLED" {
		return model.ServerError
	}
	return ""
}
