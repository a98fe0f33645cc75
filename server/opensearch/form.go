package opensearch

import (
	"errors"
	"net/http"

	"github.com/pexctl/pex/engine/jsonvalue"
	"github.com/pexctl/pex/server/problem"
	"github.com/pexctl/pex/server/registry"
)

// statusOf returns the HTTP status of a problem. ML Commons does not use 422.
func statusOf(p *problem.Problem) int {
	if p.Status() == http.StatusUnprocessableEntity {
		return http.StatusBadRequest
	}
	return p.Status()
}

func detailOf(p *problem.Problem) string {
	if p.Pointer == "" {
		return p.Detail
	}
	return p.Pointer + ": " + p.Detail
}

// executeForm is the form of errors of requests that execute or register.
var executeForm = problem.Form{Status: statusOf, Body: func(_ *http.Request, p *problem.Problem) (string, []byte) {
	typ, reason := "OpenSearchStatusException", "System Error"
	if statusOf(p) == http.StatusBadRequest {
		typ, reason = "IllegalArgumentException", "Invalid Request"
	}
	return encoded(object{"status": statusOf(p), "error": object{"type": typ, "reason": reason, "details": detailOf(p)}})
}}

// documentForm is the form of errors of requests for documents.
var documentForm = problem.Form{Status: statusOf, Body: func(_ *http.Request, p *problem.Problem) (string, []byte) {
	typ := "status_exception"
	if statusOf(p) == http.StatusBadRequest {
		typ = "illegal_argument_exception"
	}
	cause := object{"type": typ, "reason": detailOf(p)}
	return encoded(object{"error": object{"root_cause": []object{cause}, "type": typ, "reason": detailOf(p)}, "status": statusOf(p)})
}}

func encoded(v any) (string, []byte) {
	return "application/json; charset=UTF-8", append(jsonvalue.Encode(v), '\n')
}

// notFound are what ML Commons says about documents that do not exist.
var notFound = map[registry.Kind]string{
	registry.Connectors: "Failed to find connector with the provided connector id: %s",
	registry.Models:     "Failed to find model with the provided model id: %s",
	registry.Agents:     "Failed to find agent with the provided agent id: %s",
	registry.Memories:   "Memory [%s] not found",
}

func missing(k registry.Kind, id string) *problem.Problem {
	return problem.New(problem.NotFound, notFound[k], id)
}

// ofRegistry returns the problem of an error of the registry, or the error.
func ofRegistry(err error) error {
	if e, ok := errors.AsType[*registry.InvalidError](err); ok {
		return problem.New(problem.InvalidRequest, "%v", e)
	}
	if e, ok := errors.AsType[*registry.NotFoundError](err); ok {
		return missing(e.Kind, e.ID)
	}
	if e, ok := errors.AsType[*registry.InUseError](err); ok {
		return problem.New(problem.StillNeeded, "%v", e)
	}
	if errors.Is(err, registry.ErrFull) {
		return problem.New(problem.QuotaExceeded, "%v", err)
	}
	return err
}
