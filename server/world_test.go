package server_test

import (
	"context"
	"io"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/internal/syncbuffer"
	"github.com/pexctl/pex/server"
)

// pipes is a listener without a network, for virtual time.
type pipes struct {
	conns  chan net.Conn
	once   sync.Once
	closed chan struct{}
}

func newPipes() *pipes { return &pipes{conns: make(chan net.Conn), closed: make(chan struct{})} }

func (p *pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.conns:
		return c, nil
	case <-p.closed:
		return nil, net.ErrClosed
	}
}

func (p *pipes) Close() error {
	p.once.Do(func() { close(p.closed) })
	return nil
}

func (p *pipes) Addr() net.Addr { return pipeAddr{} }

type pipeAddr struct{}

func (pipeAddr) Network() string { return "pipe" }
func (pipeAddr) String() string  { return "localhost:80" }

func (p *pipes) dial(ctx context.Context, _, _ string) (net.Conn, error) {
	client, serving := net.Pipe()
	select {
	case p.conns <- serving:
		return client, nil
	case <-p.closed:
		return nil, net.ErrClosed
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// world is a server in virtual time, and a client.
type world struct {
	*pipes
	t      *testing.T
	server *server.Server
	client *http.Client
	log    *syncbuffer.Buffer
	stop   func()       // begins the shutdown
	done   <-chan error // receives the result of Serve
}

// serve runs f against a server in virtual time, then shuts the server down.
func serve(t *testing.T, o server.Options, f func(*testing.T, *world)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		w := &world{pipes: newPipes(), t: t, log: &syncbuffer.Buffer{}}
		o.Log = slog.New(slog.NewJSONHandler(w.log, &slog.HandlerOptions{Level: slog.LevelDebug}))
		var err error
		if w.server, err = server.New(o); err != nil {
			t.Fatal(err)
		}
		transport := &http.Transport{DialContext: w.dial}
		w.client = &http.Client{Transport: transport}
		ctx, stop := context.WithCancel(t.Context())
		done := make(chan error, 1)
		w.stop, w.done = stop, done
		go func() {
			done <- w.server.Serve(ctx, w.pipes)
			close(done)
		}()
		f(t, w)
		transport.CloseIdleConnections()
		stop()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
}

// send sends a request and returns the status and the body.
func (w *world) send(r *http.Request) (res *http.Response, body string) {
	w.t.Helper()
	res, err := w.client.Do(r)
	if err != nil {
		w.t.Error(err)
		return &http.Response{Header: http.Header{}}, ""
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	if err != nil {
		w.t.Error(err)
	}
	return res, string(b)
}

func (w *world) request(method, path string, body io.Reader, headers ...string) *http.Request {
	w.t.Helper()
	r, err := http.NewRequestWithContext(w.t.Context(), method, "http://localhost"+path, body)
	if err != nil {
		w.t.Fatal(err)
	}
	for i := 0; i < len(headers); i += 2 {
		r.Header.Add(headers[i], headers[i+1])
	}
	return r
}

func (w *world) get(path string, headers ...string) (*http.Response, string) {
	w.t.Helper()
	return w.send(w.request(http.MethodGet, path, nil, headers...))
}

// echo responds with the body of a request.
func echo(w http.ResponseWriter, r *http.Request) {
	b, err := io.ReadAll(r.Body)
	if err != nil {
		http.Error(w, "cannot read the body", http.StatusBadRequest)
		return
	}
	_, _ = w.Write(b)
}

func feedEvent(seq int) engine.Event {
	return engine.Event{V: engine.EventVersion, Seq: seq, Run: "r-1", Type: engine.Warning}
}
