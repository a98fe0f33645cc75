package modelhttp

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"github.com/pexctl/pex/engine/model"
	"github.com/pexctl/pex/internal/httpclient"
)

// ErrorWords maps words in servers' errors, in lower case, to error kinds that are more
// specific than the status. The first match counts.
type ErrorWords []struct {
	Text string
	Kind model.ErrorKind
}

// Kind returns the kind of an error text, or "".
func (w ErrorWords) Kind(text string) model.ErrorKind {
	text = strings.ToLower(text)
	for _, word := range w {
		if strings.Contains(text, word.Text) {
			return word.Kind
		}
	}
	return ""
}

// KindOfRefused returns the kind of a refused request whose body has an error in OpenAI's format. fallback is the kind
// of its status.
func (w ErrorWords) KindOfRefused(r *httpclient.Error, fallback model.ErrorKind) model.ErrorKind {
	kind := w.kindOf(r.Body)
	if kind != "" && r.Status < http.StatusInternalServerError || kind == model.ContextTooLong {
		return kind
	}
	return fallback
}

// ParseError returns the error in OpenAI's format that came with status 200, in a stream or instead of a reply.
func (w ErrorWords) ParseError(body []byte) *model.Error {
	e := Bad("%s", ErrorBody(body))
	e.Kind = model.ServerError
	var shape struct {
		Error struct{ Code, Status json.RawMessage }
	}
	_ = json.Unmarshal(body, &shape) // another format: keep the kind
	for _, raw := range []json.RawMessage{shape.Error.Status, shape.Error.Code} {
		if status, err := strconv.Atoi(strings.Trim(string(raw), `"`)); err == nil && status >= 400 && status < 600 {
			e.Status, e.Kind = status, httpclient.KindOf(status)
		}
	}
	if kind := w.kindOf(body); kind != "" {
		e.Kind = kind
	}
	return e
}

// kindOf returns the kind of an error, or "". It considers only the error's own fields,
// since bodies may quote the request.
func (w ErrorWords) kindOf(body []byte) model.ErrorKind {
	var shape struct {
		Code, Type any
		Error      struct{ Code, Type, Status any }
	}
	_ = json.Unmarshal(body, &shape) // another format: only the explanation remains
	return w.Kind(fmt.Sprintln(shape.Code, shape.Type, shape.Error.Code, shape.Error.Type, shape.Error.Status, httpclient.Explain(body)))
}
