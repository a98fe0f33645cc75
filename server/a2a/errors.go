package a2a

import (
	"net/http"

	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/pexctl/pex/server/problem"
)

// Form returns how clients expect errors about the whole request: as a JSON-RPC error.
func Form() problem.Form {
	return problem.Form{Body: func(_ *http.Request, p *problem.Problem) (string, []byte) {
		code := -32000
		switch p.Status() {
		case http.StatusUnauthorized:
			code = -31401
		case http.StatusForbidden:
			code = -31403
		case http.StatusBadRequest:
			code = -32700
		case http.StatusInternalServerError:
			code = -32603
		}
		return "application/json", encode(errorObject{code, p.Detail}, nil)
	}}
}

// kinds are the errors of the protocol for problems. Others are server errors.
var kinds = map[problem.Code]error{
	problem.NotFound: a2a.ErrTaskNotFound, problem.Unauthorized: a2a.ErrUnauthenticated, problem.Forbidden: a2a.ErrUnauthorized,
	problem.NotAnApprover: a2a.ErrUnauthorized, problem.SetNotAllowed: a2a.ErrUnauthorized,
	problem.InvalidRequest: a2a.ErrInvalidParams, problem.InvalidParameters: a2a.ErrInvalidParams, problem.InvalidAnswer: a2a.ErrInvalidParams,
	problem.InvalidMessage: a2a.ErrInvalidParams, problem.NoOpenQuestion: a2a.ErrInvalidParams, problem.InvalidCursor: a2a.ErrInvalidParams,
	problem.IdempotencyMismatch: a2a.ErrInvalidParams, problem.MessageConflict: a2a.ErrInvalidParams,
	problem.AlreadyDecided: a2a.ErrUnsupportedOperation, problem.Ended: a2a.ErrUnsupportedOperation,
	problem.Internal: a2a.ErrInternalError, problem.StoreCorrupt: a2a.ErrInternalError,
}

// fail returns the error that the client receives.
func (t *tasks) fail(err error) error {
	p := t.server.Access.Problem(t.request, err)
	kind, ok := kinds[p.Code]
	if !ok {
		kind = a2a.ErrServerError
	}
	details := map[string]any{"code": string(p.Code)}
	if p.Pointer != "" {
		details["pointer"] = p.Pointer
	}
	if p.RetryAfter > 0 {
		details["retry_after_seconds"] = p.RetryAfter.Seconds()
	}
	return a2a.NewError(kind, p.Detail).WithDetails(details)
}
