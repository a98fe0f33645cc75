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

// Bounds of how a request is sent anew because its connection was dead already.
const (
	maxStale = 3
	maxQuiet = 2 * time.Second // a dead connection shows itself soon; later, a server at work has died
)

// idempotencyKey is the header whose presence lets net/http send a POST anew on
// another connection. Without a value it is not sent.
const idempotencyKey = "Idempotency-Key"

// send makes a request. One that met a connection kept open from earlier, and
// got not a byte of an answer, was most likely never read: servers close such
// connections when they like. It is sent anew, which is no attempt that failed.
// used, whose trace the request has, then says whether anything was sent.
func (c *Client) send(req *http.Request, used *connection) (*http.Response, error) {
	used.once = isOnce(req.Context())
	if body := req.GetBody; body != nil {
		req.GetBody = func() (io.ReadCloser, error) { // net/http asks for it before it sends anew
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

// errRead ends an attempt at which a server may have worked.
var errRead = errors.New("the connection was closed before an answer came")

// connection is what is known of the connection that a request went over.
type connection struct {
	once                  bool // a request that may have been read is not sent anew
	got, reused, answered atomic.Bool
	written               atomic.Pointer[time.Time] // when the whole request was, nil = it is not
}

func (u *connection) trace() *httptrace.ClientTrace {
	return &httptrace.ClientTrace{
		GotConn: func(i httptrace.GotConnInfo) {
			u.got.Store(true)
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

// stale says that the connection was an old one, and dead. One of HTTP/2 that
// resets a single stream lives: its server did not want the request. One that
// goes had taken it: what it did not take, net/http sends anew by itself.
func (u *connection) stale(err error) bool {
	text := err.Error()
	return u.reused.Load() && !u.answered.Load() && !u.read() &&
		!strings.Contains(text, "stream error:") && !strings.Contains(text, "sent GOAWAY")
}

// read says that a server may have read the request, and worked at it.
func (u *connection) read() bool {
	at := u.written.Load()
	return at != nil && (u.once || time.Since(*at) > maxQuiet)
}

// rewind gives a request its body again, where that can be done.
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
