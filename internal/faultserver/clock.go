package faultserver

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pexctl/pex/engine/model"
	"github.com/pexctl/pex/internal/httpclient"
)

// The transport's own limits. backoff is the sum of the waits before the second and third attempts.
const (
	firstByte = 5 * time.Minute
	idle      = 2 * time.Minute
	all       = 10 * time.Minute
	backoff   = 1500 * time.Millisecond
	longest   = 30 * time.Second // maximum wait between attempts
)

// timeoutFault is a slow server, and the expected end of a call to it.
type timeoutFault struct {
	name     string
	serve    func(*exchange)
	outcome  outcome
	duration time.Duration
}

// timeoutFaults returns the faults that only time limits end.
func timeoutFaults() []timeoutFault {
	drip := func(s *exchange, body []byte, every time.Duration) {
		s.writeHeader()
		for _, b := range body {
			_, _ = s.Write([]byte{b})
			if !s.flush() || !s.wait(every) {
				return
			}
		}
	}
	return []timeoutFault{
		{"no response", func(s *exchange) { s.wait(time.Hour) }, fails(model.CallTimeout), firstByte},
		{"a header, then nothing", func(s *exchange) {
			s.writeHeader()
			s.flush()
			s.wait(time.Hour)
		}, fails(model.Truncated), attempts*idle + backoff},
		{"half a reply, then nothing", func(s *exchange) {
			s.writeHeader()
			_, _ = s.Write(s.f.partialReply(s.streamed))
			s.flush()
			s.wait(time.Hour)
		}, fails(model.Truncated), attempts*idle + backoff},
		{"endless, byte by byte", func(s *exchange) {
			piece := []byte(" ")
			if s.streamed && s.f.Stream.Harmless != nil {
				piece = s.f.Stream.Harmless
			}
			drip(s, bytes.Repeat(piece, 2*int(all.Seconds())), time.Second)
		}, fails(model.CallTimeout), all},
		{"the reply, byte by byte and too slowly", func(s *exchange) { drip(s, s.f.reply(s.streamed), 100*time.Second) }, fails(model.CallTimeout), all},
		{"the reply, byte by byte", func(s *exchange) { drip(s, s.f.reply(s.streamed), 200*time.Millisecond) }, succeeds, 0},
		{"429 with the maximum Retry-After", withStatus(429, "Retry-After", "30"), fails(model.RateLimited), (attempts - 1) * longest},
		{"503", withStatus(503), fails(model.Overloaded), backoff},
	}
}

// wait waits, and reports whether the client is still connected.
func (s *exchange) wait(d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-s.r.Context().Done():
		return false
	}
}

// RunOnClock makes calls with the transport's real limits and waits. Time is virtual and the
// connections are pipes, so durations are checked to the nanosecond.
func RunOnClock(t *testing.T, f Format, model Maker) {
	t.Helper()
	for _, x := range timeoutFaults() {
		for _, streamed := range []bool{false, true} {
			if streamed && f.Stream == nil {
				continue
			}
			synctest.Test(t, func(t *testing.T) {
				if why := x.run(t, &f, model, streamed); why != "" {
					t.Errorf("%s, streamed %v: %s", x.name, streamed, why)
				}
			})
		}
	}
}

// run makes one call and returns what is wrong with its result, or "".
func (x *timeoutFault) run(t *testing.T, f *Format, of Maker, streamed bool) string {
	list := []fault{both(x.name, x.outcome, x.serve)}
	s := &endpoint{name: "clock", base: "http://faults.test", server: &server{format: f, faults: list, requests: map[string]int{}}}
	l := &pipes{conns: make(chan net.Conn), closed: make(chan struct{})}
	host := &http.Server{Handler: s.server, ErrorLog: log.New(io.Discard, "", 0)}
	go func() { _ = host.Serve(l) }() // ends by Close
	s.transport = &http.Transport{DialContext: l.dial}
	defer func() {
		s.transport.CloseIdleConnections()
		_ = host.Close()
	}()
	m := s.model(t, func(set model.Settings, change func(*httpclient.Settings)) (model.Model, error) {
		return of(set, func(w *httpclient.Settings) {
			change(w)
			w.Sleep = nil
		})
	}, 0)
	started := time.Now()
	if why := s.call(t.Context(), m, 0, plan{0, streamed, true}); why != "" {
		return why
	}
	if took := time.Since(started); x.duration != 0 && took != x.duration {
		return "it took " + took.String() + ", not " + x.duration.String()
	}
	return ""
}

// pipes is a network with one server.
type pipes struct {
	conns  chan net.Conn
	closed chan struct{}
}

var _ net.Listener = (*pipes)(nil)

func (p *pipes) dial(ctx context.Context, _, _ string) (net.Conn, error) {
	here, there := net.Pipe()
	select {
	case p.conns <- there:
		return here, nil
	case <-p.closed:
		return nil, net.ErrClosed
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// Accept implements net.Listener.
func (p *pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.conns:
		return c, nil
	case <-p.closed:
		return nil, errors.New("closed")
	}
}

// Close implements net.Listener.
func (p *pipes) Close() error {
	close(p.closed)
	return nil
}

// Addr implements net.Listener.
func (p *pipes) Addr() net.Addr { return &net.UnixAddr{Name: "faulty", Net: "unix"} }
