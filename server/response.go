package server

import (
	"net/http"
	"time"

	"github.com/pexctl/pex/server/problem"
)

// response records the status of a response, sets a deadline for each write, and replaces
// the response of a handler that could not read the body.
type response struct {
	http.ResponseWriter
	request *http.Request
	control *http.ResponseController
	timeout time.Duration
	status  int // 0 = not sent
	bytes   int64
	fault   *problem.Problem // why the body could not be read
	discard bool             // the fault was sent instead of the handler's response
	aborted bool             // a panic cut the response short
}

func newResponse(w http.ResponseWriter, request *http.Request, timeout time.Duration) *response {
	r := &response{ResponseWriter: w, request: request, control: http.NewResponseController(w), timeout: timeout}
	r.setDeadline(time.Time{}) // that of the last request on the connection
	return r
}

// Unwrap returns the underlying writer, for http.ResponseController.
func (r *response) Unwrap() http.ResponseWriter { return r.ResponseWriter }

// Flush implements http.Flusher.
func (r *response) Flush() { _ = r.control.Flush() } // a write error follows

// WriteHeader sends the status.
func (r *response) WriteHeader(status int) {
	if r.discard {
		return
	}
	if p := r.fault; p != nil && r.status == 0 && status >= 400 {
		r.fault = nil
		problem.Write(r, r.request, p)
		r.discard = true
		return
	}
	if r.status == 0 && status >= 200 {
		r.status = status
	}
	r.ResponseWriter.WriteHeader(status)
}

// Write sends a part of the body.
func (r *response) Write(b []byte) (int, error) {
	if r.status == 0 {
		r.WriteHeader(http.StatusOK)
	}
	if r.discard {
		return len(b), nil
	}
	r.setDeadline(time.Now().Add(r.timeout))
	n, err := r.ResponseWriter.Write(b)
	r.bytes += int64(n)
	return n, err
}

// abort reports whether a part of the response was sent already.
func (r *response) abort() bool {
	r.aborted = r.status != 0
	return r.aborted
}

// finish prepares the last write, after the handler.
func (r *response) finish() {
	if r.status == 0 {
		r.status = http.StatusOK
	}
	r.setDeadline(time.Now().Add(r.timeout))
}

func (r *response) setDeadline(t time.Time) { _ = r.control.SetWriteDeadline(t) } // tests have no connection
