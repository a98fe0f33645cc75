package http_test

import (
	"context"
	"encoding/json"
	"io"
	nethttp "net/http"
	"net/http/httptest"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/enginetest"
	"github.com/pexctl/pex/internal/wire"
	"github.com/pexctl/pex/providers/http"
)

// protocol is how a fake endpoint understands requests and answers them.
type protocol struct {
	path   string // where it is asked, the model's name as MODEL; "" = anywhere
	asked  func(t *testing.T, raw []byte) enginetest.Asked
	answer func(x enginetest.Exchange) any
	refuse func(x enginetest.Exchange) any
	id     string // header of a request's id
}

// server speaks a protocol for a script of the suite.
type server struct {
	t      *testing.T
	script *enginetest.ModelScript
	speaks protocol
	ended  chan struct{} // closed when the test ends
}

func newServer(t *testing.T, script *enginetest.ModelScript, p protocol) string {
	t.Helper()
	s := &server{t: t, script: script, speaks: p, ended: make(chan struct{})}
	h := httptest.NewServer(s)
	t.Cleanup(func() { close(s.ended); h.Close() })
	return h.URL
}

func noWaits(s *wire.Settings) {
	s.Breaker = nil // each server is a test's own
	s.Sleep = func(ctx context.Context, _ time.Duration) error { return ctx.Err() }
}

// at makes a model of an endpoint at an address, whose waits take no time.
func at(t testing.TB, base string, c http.Config, set engine.ModelSettings) engine.Model {
	t.Helper()
	set.BaseURL = base
	m, err := http.New(&c, set, noWaits)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

var inPath = regexp.MustCompile(`^/models?/([^/:]+)`)

func (s *server) ServeHTTP(w nethttp.ResponseWriter, r *nethttp.Request) {
	raw, err := io.ReadAll(r.Body)
	if err != nil {
		return // the client is gone
	}
	a := s.speaks.asked(s.t, raw)
	path := r.URL.EscapedPath()
	if m := inPath.FindStringSubmatch(path); m != nil {
		a.Params.Model, path = m[1], strings.Replace(path, m[1], "MODEL", 1)
	}
	if s.speaks.path != "" && path != s.speaks.path {
		s.t.Errorf("asked at %s", path)
	}
	if got := r.Header.Get("Authorization"); got != "Bearer sk-a-secret-of-the-suite" {
		s.t.Errorf("authorization %q", got)
	}
	x := s.script.Next(a)
	switch {
	case x.Status != 0:
		s.refuse(w, x)
	case x.Hang == enginetest.AtOnce:
		s.hang(r)
	default:
		s.whole(w, r, x)
	}
}

func (s *server) refuse(w nethttp.ResponseWriter, x enginetest.Exchange) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set(s.speaks.id, x.RequestID)
	if x.RetryAfter > 0 {
		w.Header().Set("Retry-After", strconv.Itoa(int(x.RetryAfter.Seconds())))
	}
	w.WriteHeader(x.Status)
	_ = json.NewEncoder(w).Encode(s.speaks.refuse(x))
}

func (s *server) whole(w nethttp.ResponseWriter, r *nethttp.Request, x enginetest.Exchange) {
	text, err := json.Marshal(s.speaks.answer(x))
	if err != nil {
		s.t.Error(err)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Content-Length", strconv.Itoa(len(text)))
	if x.Cut || x.Hang == enginetest.InTheBody {
		_, _ = w.Write(text[:len(text)/2])
		_ = nethttp.NewResponseController(w).Flush()
		if x.Cut {
			panic(nethttp.ErrAbortHandler)
		}
		s.hang(r)
		return
	}
	_, _ = w.Write(text)
}

// hang falls silent until the client is gone.
func (s *server) hang(r *nethttp.Request) {
	select {
	case <-s.script.Silent:
	default:
		close(s.script.Silent)
	}
	select {
	case <-r.Context().Done():
	case <-s.ended:
	}
}

// read decodes a request; a field that the protocol does not have is a fault.
func read(t *testing.T, raw []byte, into any) {
	t.Helper()
	if err := json.Unmarshal(raw, into); err != nil {
		t.Errorf("%v: %s", err, raw)
	}
}

// conforms runs the suite on an interface.
func conforms(t *testing.T, c http.Config, p protocol, skip ...string) {
	t.Helper()
	enginetest.ModelSuite(t, func(t *testing.T, script *enginetest.ModelScript, set engine.ModelSettings) engine.Model {
		return at(t, newServer(t, script, p), c, set)
	}, skip...)
}
