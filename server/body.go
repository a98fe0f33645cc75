package server

import (
	"errors"
	"io"
	"net/http"
	"os"
	"time"

	"github.com/pexctl/pex/server/problem"
)

// formOverhead is how much longer than a file the form that contains it may be.
const formOverhead = 4 << 10

// limitBody limits the size of request bodies and the time to read them.
func (s *Server) limitBody(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.ContentLength == 0 {
			next.ServeHTTP(w, r)
			return
		}
		b := &body{limit: s.o.Limits.Body, timeout: s.o.Limits.ReadBody, control: http.NewResponseController(w)}
		if s.o.IsUpload != nil && s.o.IsUpload(r) {
			b.limit, b.slack, b.timeout = s.o.Limits.Upload, formOverhead, s.o.Limits.ReadUpload
		}
		if r.ContentLength > b.limit+b.slack {
			problem.Write(w, r, b.tooLarge())
			return
		}
		b.response, _ = w.(*response)
		b.ReadCloser = http.MaxBytesReader(w, r.Body, b.limit+b.slack)
		r.Body = b
		b.setDeadline(time.Now().Add(s.o.Limits.ReadBody)) // net/http reads what a handler has not read, such as the body of a client without a token
		b.extend = func() { b.setDeadline(time.Now().Add(b.timeout)) }
		next.ServeHTTP(w, r)
	})
}

// body is a request body with a limit and a deadline.
type body struct {
	io.ReadCloser
	response *response
	control  *http.ResponseController
	limit    int64 // bytes
	slack    int64 // bytes that the client is not told about
	timeout  time.Duration
	extend   func() // sets the deadline of timeout; nil once the handler reads
}

// Read implements io.Reader.
func (b *body) Read(p []byte) (int, error) {
	if b.extend != nil {
		b.extend()
		b.extend = nil
	}
	n, err := b.ReadCloser.Read(p)
	switch {
	case err == nil:
		return n, nil
	case errors.Is(err, os.ErrDeadlineExceeded):
		b.fail(problem.New(problem.RequestTimeout, "the request body was not received within %s", b.timeout))
	case isTooLarge(err):
		b.fail(b.tooLarge())
	default:
		b.setDeadline(time.Time{}) // at the end, so that it does not end the response
	}
	return n, err
}

// fail sets the problem to respond with if the handler fails.
func (b *body) fail(p *problem.Problem) {
	if b.response != nil {
		b.response.fault = p
	}
}

func (b *body) tooLarge() *problem.Problem {
	return problem.New(problem.TooLarge, "the request body is larger than %d bytes", b.limit)
}

func (b *body) setDeadline(t time.Time) { _ = b.control.SetReadDeadline(t) } // tests have no connection

func isTooLarge(err error) bool {
	_, ok := errors.AsType[*http.MaxBytesError](err)
	return ok
}
