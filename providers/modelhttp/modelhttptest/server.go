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

// Protocol is a provider's protocol as its server implements it. The script of enginetest.ModelSuite decides on the
// answers. Their Content-Type is application/json unless the functions set another in h.
type Protocol struct {
	// ParseRequest converts a request to the engine's terms. It reports to t what the real server would reject. ok is
	// false if it is not a request of the protocol.
	ParseRequest func(t *testing.T, r *http.Request, body []byte) (a enginetest.ReceivedRequest, ok bool)
	// ErrorBody returns the body of an error, and ReplyBody that of a reply, to encode as JSON.
	ErrorBody func(h http.Header, x enginetest.Response, a enginetest.ReceivedRequest) any
	ReplyBody func(h http.Header, x enginetest.Response) any
	// Stream returns a reply in the chunks to send; nil = the server does not stream.
	Stream func(h http.Header, x enginetest.Response) [][]byte
}

// Serve starts a server of a protocol that follows a script until the test ends. It returns the URL.
func Serve(t *testing.T, script *enginetest.ModelScript, s Protocol) string {
	t.Helper()
	v := &server{t: t, script: script, protocol: s, ended: make(chan struct{})}
	h := httptest.NewServer(v)
	t.Cleanup(func() { close(v.ended); h.Close() })
	return h.URL
}

// DisableWaits makes retries immediate and disables the circuit breaker.
func DisableWaits(s *httpclient.Settings) {
	s.Breaker = nil
	s.Sleep = func(ctx context.Context, _ time.Duration) error { return ctx.Err() }
}

type server struct {
	t        *testing.T
	script   *enginetest.ModelScript
	protocol Protocol
	ended    chan struct{} // closed at the end of the test
}

// ServeHTTP answers according to the script.
func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // the client has disconnected
	}
	a, ok := s.protocol.ParseRequest(s.t, r, body)
	if !ok {
		s.t.Errorf("request to %s is not of the protocol: %s", r.URL.Path, body)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	x := s.script.Next(a)
	switch {
	case x.Status != 0:
		s.sendError(w, x, a)
	case x.Hang == enginetest.BeforeHeader:
		s.hang(r)
	case a.Streamed && s.protocol.Stream != nil:
		s.sendStream(w, r, x)
	default:
		s.sendReply(w, r, x)
	}
}

func (s *server) sendError(w http.ResponseWriter, x enginetest.Response, a enginetest.ReceivedRequest) {
	body := s.protocol.ErrorBody(w.Header(), x, a)
	if x.RetryAfter > 0 {
		w.Header().Set("Retry-After", strconv.Itoa(int(x.RetryAfter.Seconds())))
	}
	w.WriteHeader(x.Status)
	_ = json.NewEncoder(w).Encode(body)
}

func (s *server) sendReply(w http.ResponseWriter, r *http.Request, x enginetest.Response) {
	text, err := json.MarshalIndent(s.protocol.ReplyBody(w.Header(), x), "", "  ") // indented, because some clients read line by line
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

func (s *server) sendStream(w http.ResponseWriter, r *http.Request, x enginetest.Response) {
	chunks := s.protocol.Stream(w.Header(), x)
	if x.Cut || x.Hang == enginetest.MidBody {
		chunks = chunks[:len(chunks)/2]
	}
	for _, chunk := range chunks {
		_, _ = w.Write(chunk)
		_ = http.NewResponseController(w).Flush()
	}
	if x.Hang == enginetest.MidBody {
		s.hang(r)
	}
}

// hang sends nothing until the client disconnects.
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
