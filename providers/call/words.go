package call

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"github.com/pexctl/pex/engine/model"
	"github.com/pexctl/pex/internal/wire"
)

// Words are what servers say of errors that tells more than the status does, in
// lower case. The first that occurs counts.
type Words []struct {
	Text string
	Kind model.ErrorKind
}

// Kind is the kind of an error of which a server says that, "" where it says
// nothing known.
func (w Words) Kind(said string) model.ErrorKind {
	said = strings.ToLower(said)
	for _, word := range w {
		if strings.Contains(said, word.Text) {
			return word.Kind
		}
	}
	return ""
}

// Refused is the kind of a refused request whose body tells an error as OpenAI's
// protocol does; otherwise is what its status says.
func (w Words) Refused(r *wire.Error, otherwise model.ErrorKind) model.ErrorKind {
	kind := w.named(r.Body)
	if kind != "" && r.Status < http.StatusInternalServerError || kind == model.ContextTooLong {
		return kind
	}
	return otherwise
}

// Reported types an error told in that way with status 200: in a stream, or in
// place of a reply.
func (w Words) Reported(body []byte) *model.Error {
	e := Bad("%s", Said(body))
	e.Kind = model.ServerError
	var shape struct {
		Error struct{ Code, Status json.RawMessage }
	}
	_ = json.Unmarshal(body, &shape) // of another shape: the kind stays
	for _, raw := range []json.RawMessage{shape.Error.Status, shape.Error.Code} {
		if status, err := strconv.Atoi(strings.Trim(string(raw), `"`)); err == nil && status >= 400 && status < 600 {
			e.Status, e.Kind = status, wire.KindOf(status)
		}
	}
	if kind := w.named(body); kind != "" {
		e.Kind = kind
	}
	return e
}

// named finds the kind of an error in its words, "" where none is known. Only
// what the server says of the error counts: bodies may quote the request.
func (w Words) named(body []byte) model.ErrorKind {
	var shape struct {
		Code, Type any
		Error      struct{ Code, Type, Status any }
	}
	_ = json.Unmarshal(body, &shape) // of another shape: the sentence is left
	return w.Kind(fmt.Sprintln(shape.Code, shape.Type, shape.Error.Code, shape.Error.Type, shape.Error.Status, wire.Explain(body)))
}
