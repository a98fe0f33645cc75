package httpclient

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptrace"
	"strings"
	"sync/atomic"
	"time"
)

// Limits of resending a request after its connection turned out to be dead.
const (
	maxStale = 3
	maxQuiet = 2 * time.Second // a dead connection fails quickly; after this time the server has probably processed the request
)

// idempotencyKey is the header that allows net/http to resend a POST on another connection. It is not sent if it has
// no values.
const idempotencyKey = "Idempotency-Key"

// send sends a request. If a reused connection fails before the first byte of the response, the server has most
// likely closed it earlier and never read the request. The request is then resent, which does not count as a failed
// attempt. used must be the trace of the request; it reports afterwards whether anything was sent.
func (c *Client) send(req *http.Request, used *connection) (*http.Response, error) {
	used.noResend = isNoResend(req.Context())
	if body := req.GetBody; body != nil {
		req.GetBody = func() (io.ReadCloser, error) { // called by net/http before it resends
			if used.read() {
				return nil, errRead
			}
			return body()
		}
	}
	if _, ok := req.Header[idempotencyKey]; !ok {
		req.Header[idempotencyKey] = nil
	}
	for n := 1; ; n++ {
		used.reused.Store(false)
		resp, err := c.s.Base.RoundTrip(req)
		if err == nil || n > maxStale || !used.stale(err) || req.Context().Err() != nil || !rewind(req) {
			return resp, err
		}
	}
}

// errRead ends an attempt that the server may have processed.
var errRead = errors.New("the connection was closed before the response")

// connection is the state of the connection of a request.
type connection struct {
	noResend                    bool // do not resend a request that may have been read
	connected, reused, answered atomic.Bool
	written                     atomic.Pointer[time.Time] // when the request was written completely; nil = not yet
}

func (u *connection) trace() *httptrace.ClientTrace {
	return &httptrace.ClientTrace{
		GotConn: func(i httptrace.GotConnInfo) {
			u.connected.Store(true)
			u.reused.Store(i.Reused)
			u.answered.Store(false)
			u.written.Store(nil)
		},
		WroteRequest: func(i httptrace.WroteRequestInfo) {
			if now := time.Now(); i.Err == nil {
				u.written.Store(&now)
			}
		},
		GotFirstResponseByte: func() { u.answered.Store(true) },
	}
}

// stale reports whether a reused connection was dead. After a reset of a single HTTP/2 stream the connection is
// alive: the server rejected the request. After GOAWAY the server has processed the request; net/http itself resends
// those that were not processed.
func (u *connection) stale(err error) bool {
	text := err.Error()
	return u.reused.Load() && !u.answered.Load() && !u.read() &&
		!strings.Contains(text, "stream error:") && !strings.Contains(text, "sent GOAWAY")
}

// read reports whether the server may have read and processed the request.
func (u *connection) read() bool {
	at := u.written.Load()
	return at != nil && (u.noResend || time.Since(*at) > maxQuiet)
}

// rewind restores the body of a request. It returns false if that is impossible.
func rewind(req *http.Request) bool {
	if req.Body == nil || req.Body == http.NoBody {
		return true
	}
	if req.GetBody == nil {
		return false
	}
	body, err := req.GetBody()
	if err != nil {
		return false
	}
	req.Body = body
	return true
}
