package modelhttptest

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"testing"
	"time"

	"github.com/pexctl/pex/engine/enginetest"
	"github.com/pexctl/pex/internal/httpclient"
)

// Speech is how a provider's server speaks. What it does with a request is told
// by the script of enginetest.ModelSuite. Replies and refusals have the
// Content-Type application/json, where h is not set to another.
type Speech struct {
	// Hear is a request in the engine's terms; what the real server would refuse
	// it reports to t. ok is false for what is no request of the protocol.
	Hear func(t *testing.T, r *http.Request, body []byte) (a enginetest.ReceivedRequest, ok bool)
	// Refuse is the body of a refusal, and Whole that of a reply, as JSON.
	Refuse func(h http.Header, x enginetest.Response, a enginetest.ReceivedRequest) any
	Whole  func(h http.Header, x enginetest.Response) any
	// Stream is a reply in the pieces that are sent one by one; nil = the server
	// does not stream.
	Stream func(h http.Header, x enginetest.Response) [][]byte
}

// Serve gives the address of a server that speaks for a script until the test ends.
func Serve(t *testing.T, script *enginetest.ModelScript, s Speech) string {
	t.Helper()
	v := &server{t: t, script: script, speech: s, ended: make(chan struct{})}
	h := httptest.NewServer(v)
	t.Cleanup(func() { close(v.ended); h.Close() })
	return h.URL
}

// NoWaits lets attempts follow each other at once, and no server stay alone: each
// is a test's own.
func NoWaits(s *httpclient.Settings) {
	s.Breaker = nil
	s.Sleep = func(ctx context.Context, _ time.Duration) error { return ctx.Err() }
}

type server struct {
	t      *testing.T
	script *enginetest.ModelScript
	speech Speech
	ended  chan struct{} // closed when the test ends
}

// ServeHTTP does what the script says.
func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // the client is gone
	}
	a, ok := s.speech.Hear(s.t, r, body)
	if !ok {
		s.t.Errorf("request to %s is not of the protocol: %s", r.URL.Path, body)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	x := s.script.Next(a)
	switch {
	case x.Status != 0:
		s.refuse(w, x, a)
	case x.Hang == enginetest.BeforeHeader:
		s.hang(r)
	case a.Streamed && s.speech.Stream != nil:
		s.stream(w, r, x)
	default:
		s.whole(w, r, x)
	}
}

func (s *server) refuse(w http.ResponseWriter, x enginetest.Response, a enginetest.ReceivedRequest) {
	body := s.speech.Refuse(w.Header(), x, a)
	if x.RetryAfter > 0 {
		w.Header().Set("Retry-After", strconv.Itoa(int(x.RetryAfter.Seconds())))
	}
	w.WriteHeader(x.Status)
	_ = json.NewEncoder(w).Encode(body)
}

func (s *server) whole(w http.ResponseWriter, r *http.Request, x enginetest.Response) {
	text, err := json.MarshalIndent(s.speech.Whole(w.Header(), x), "", "  ") // some clients read line by line
	if err != nil {
		s.t.Error(err)
		return
	}
	w.Header().Set("Content-Length", strconv.Itoa(len(text)))
	if x.Cut || x.Hang == enginetest.MidBody {
		_, _ = w.Write(text[:len(text)/2])
		_ = http.NewResponseController(w).Flush()
		if x.Cut {
			panic(http.ErrAbortHandler)
		}
		s.hang(r)
		return
	}
	_, _ = w.Write(text)
}

func (s *server) stream(w http.ResponseWriter, r *http.Request, x enginetest.Response) {
	pieces := s.speech.Stream(w.Header(), x)
	if x.Cut || x.Hang == enginetest.MidBody {
		pieces = pieces[:len(pieces)/2]
	}
	for _, piece := range pieces {
		_, _ = w.Write(piece)
		_ = http.NewResponseController(w).Flush()
	}
	if x.Hang == enginetest.MidBody {
		s.hang(r)
	}
}

// hang falls silent until the client is gone.
func (s *server) hang(r *http.Request) {
	select {
	case <-s.script.Hanging:
	default:
		close(s.script.Hanging)
	}
	select {
	case <-r.Context().Done():
	case <-s.ended:
	}
}
