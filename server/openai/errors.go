package openai

import (
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/pexctl/pex/engine/jsonvalue"
	"github.com/pexctl/pex/server/problem"
)

// apiError is an error in the form of the protocol.
type apiError struct {
	status  int
	message string
	param   string // what of the request is wrong; "" = nothing in particular
	code    string
}

// Error returns the message.
func (e *apiError) Error() string { return e.message }

// errorBody is the body of a response with an error, and an event of a stream.
type errorBody struct {
	Error errorObject `json:"error"`
}

type errorObject struct {
	Message string  `json:"message"`
	Type    string  `json:"type"`
	Param   *string `json:"param"`
	Code    string  `json:"code"`
}

func (e *apiError) body() errorBody {
	out := errorObject{Message: e.message, Type: "invalid_request_error", Code: e.code}
	switch {
	case e.status == http.StatusForbidden:
		out.Type = "permission_error"
	case e.status == http.StatusUnprocessableEntity:
		out.Type = "run_error"
	case e.status == http.StatusTooManyRequests:
		out.Type = "rate_limit_error"
	case e.status >= http.StatusInternalServerError:
		out.Type = "server_error"
	}
	if e.param != "" {
		out.Param = &e.param
	}
	return errorBody{out}
}

// invalid returns the error of a request with an invalid or unsupported part.
func invalid(param, code, format string, args ...any) *apiError {
	return &apiError{status: http.StatusBadRequest, param: param, code: code, message: fmt.Sprintf(format, args...)}
}

const unsupported = "unsupported_parameter"

// Form is how clients of the protocol expect errors, for server.Route.
func Form() problem.Form {
	return problem.Form{
		Body: func(_ *http.Request, p *problem.Problem) (string, []byte) {
			return "application/json", append(jsonvalue.Encode(ofProblem(p).body()), '\n')
		},
		Status: func(p *problem.Problem) int { return ofProblem(p).status },
	}
}

// ofProblem returns a problem as an error of the protocol, which has no status 422.
func ofProblem(p *problem.Problem) *apiError {
	e := &apiError{status: p.Status(), message: p.Detail, code: string(p.Code), param: paramOf(p.Pointer)}
	if e.status == http.StatusUnprocessableEntity {
		e.status = http.StatusBadRequest
	}
	if p.Code == problem.Unauthorized {
		e.code = "invalid_api_key"
	}
	return e
}

// paramOf returns a JSON Pointer in the notation of the protocol, such as messages[0].content.
func paramOf(pointer string) string {
	if strings.HasPrefix(pointer, "/parameters") {
		pointer = "/pex" + pointer
	}
	var b strings.Builder
	for name := range strings.SplitSeq(strings.TrimPrefix(pointer, "/"), "/") {
		name = strings.NewReplacer("~1", "/", "~0", "~").Replace(name)
		switch {
		case name != "" && strings.Trim(name, "0123456789") == "":
			b.WriteString("[" + name + "]")
		case b.Len() > 0:
			b.WriteString("." + name)
		default:
			b.WriteString(name)
		}
	}
	return b.String()
}

// fail responds with an error.
func (h *Handler) fail(w http.ResponseWriter, r *http.Request, err error) {
	e, ok := errors.AsType[*apiError](err)
	if !ok {
		h.o.Access.Fail(w, problem.WithForm(r, Form()), err)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(e.status)
	_, _ = w.Write(append(jsonvalue.Encode(e.body()), '\n')) // the client may be gone
}
