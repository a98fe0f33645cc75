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

// The transport's own limits, and the waits before a second and a third attempt.
const (
	firstByte = 5 * time.Minute
	idle      = 2 * time.Minute
	all       = 10 * time.Minute
	backoff   = 1500 * time.Millisecond
	longest   = 30 * time.Second // wait between attempts
)

// slow is a server that takes its time, and when a call to it ends.
type slow struct {
	name  string
	serve func(*stage)
	end   outcome
	takes time.Duration
}

// slows are the faults that only limits of time end.
func slows() []slow {
	drip := func(s *stage, body []byte, every time.Duration) {
		s.begin()
		for _, b := range body {
			_, _ = s.Write([]byte{b})
			if !s.flush() || !s.wait(every) {
				return
			}
		}
	}
	return []slow{
		{"silence", func(s *stage) { s.wait(time.Hour) }, wrong(model.CallTimeout), firstByte},
		{"a header, then silence", func(s *stage) {
			s.begin()
			s.flush()
			s.wait(time.Hour)
		}, wrong(model.Truncated), attempts*idle + backoff},
		{"half a reply, then silence", func(s *stage) {
			s.begin()
			_, _ = s.Write(s.f.part(s.streamed))
			s.flush()
			s.wait(time.Hour)
		}, wrong(model.Truncated), attempts*idle + backoff},
		{"drips without end", func(s *stage) {
			piece := []byte(" ")
			if s.streamed && s.f.Stream.Harmless != nil {
				piece = s.f.Stream.Harmless
			}
			drip(s, bytes.Repeat(piece, 2*int(all.Seconds())), time.Second)
		}, wrong(model.CallTimeout), all},
		{"the reply in drips that take too long", func(s *stage) { drip(s, s.f.good(s.streamed), 100*time.Second) }, wrong(model.CallTimeout), all},
		{"the reply in drips", func(s *stage) { drip(s, s.f.good(s.streamed), 200*time.Millisecond) }, right, 0},
		{"429, again after the longest wait", refused(429, "Retry-After", "30"), wrong(model.RateLimited), (attempts - 1) * longest},
		{"503", refused(503), wrong(model.Overloaded), backoff},
	}
}

// wait lets time pass, and says whether the client is still there.
func (s *stage) wait(d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-s.r.Context().Done():
		return false
	}
}

// RunOnClock makes calls that end by the transport's real limits and waits, to
// the nanosecond: the clock is a virtual one, and the connections are pipes.
func RunOnClock(t *testing.T, f Format, model Maker) {
	t.Helper()
	for _, x := range slows() {
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

// run makes one call, and says what is wrong with its end.
func (x *slow) run(t *testing.T, f *Format, of Maker, streamed bool) string {
	list := []fault{both(x.name, x.end, x.serve)}
	s := &site{name: "clock", base: "http://chaos.test", server: &server{format: f, faults: list, seen: map[string]int{}}}
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
	if took := time.Since(started); x.takes != 0 && took != x.takes {
		return "it took " + took.String() + ", not " + x.takes.String()
	}
	return ""
}

// pipes is a network of one server.
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
func (p *pipes) Addr() net.Addr { return &net.UnixAddr{Name: "chaos", Net: "unix"} }
