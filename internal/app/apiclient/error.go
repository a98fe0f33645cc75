package apiclient

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
)

// The codes of errors that callers distinguish; docs/serve.md lists all.
const (
	AlreadyDecided = "already_decided"
	Ended          = "ended"
	Forbidden      = "forbidden"
	InvalidSet     = "invalid_set"
	NotExportable  = "not_exportable"
	NotFound       = "not_found"
	Running        = "running"
	SetNotAllowed  = "set_not_allowed"
	SpecChanged    = "spec_changed"
	StillNeeded    = "still_needed"
	Unauthorized   = "unauthorized"
)

// Error is a request that the server refused.
type Error struct {
	Status     int    // of HTTP
	Code       string // for programs; "" = the response is not of a server of agents
	Detail     string
	Diff       string // spec_changed: how the spec has changed
	RetryAfter string // seconds until the request may succeed; "" = unknown
}

// Error returns what is wrong.
func (e *Error) Error() string { return e.Detail }

// IsCode reports whether an error is an *Error with a code.
func IsCode(err error, code string) bool {
	e, ok := errors.AsType[*Error](err)
	return ok && e.Code == code
}

// ConnectionError reports that the server could not be reached, or that a connection
// broke. Whether the request arrived is unknown.
type ConnectionError struct {
	URL string // of the server
	Err error
}

// Error returns the message with the address.
func (e *ConnectionError) Error() string { return fmt.Sprintf("connect to %s: %v", e.URL, e.Err) }

// Unwrap returns the cause.
func (e *ConnectionError) Unwrap() error { return e.Err }

func connectionError(base string, err error) error {
	if failed, ok := errors.AsType[*url.Error](err); ok { // it repeats method and address
		err = failed.Err
	}
	return &ConnectionError{base, err}
}

// refused returns the *Error of a response.
func (c *Client) refused(res *http.Response) error {
	e := &Error{Status: res.StatusCode, RetryAfter: res.Header.Get("Retry-After")}
	var problem struct {
		Code   string `json:"code"`
		Detail string `json:"detail"`
		Diff   string `json:"diff"`

		Diagnostics []struct {
			Message string `json:"message"`
		} `json:"diagnostics"` // of overrides
	}
	b, err := io.ReadAll(io.LimitReader(res.Body, 1<<20))
	if err == nil {
		err = json.Unmarshal(b, &problem)
	}
	if err != nil || problem.Code == "" {
		e.Detail = fmt.Sprintf("%s is not a server of agents: status %s", c.base, res.Status)
		return e
	}
	e.Code, e.Detail, e.Diff = problem.Code, problem.Detail, problem.Diff
	for i, d := range problem.Diagnostics {
		e.Detail += []string{": ", "; "}[min(i, 1)] + d.Message
	}
	return e
}
