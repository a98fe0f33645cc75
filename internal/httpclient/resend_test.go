package httpclient_test

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/pexctl/pex/engine/model"
	"github.com/pexctl/pex/internal/httpclient"
)

// fickle serves connections that respond to one request each and stay open. after handles the next request on the
// same connection. It counts the responses.
type fickle struct {
	mu       sync.Mutex
	answered int
}

func (f *fickle) serve(t *testing.T, after func(net.Conn, *bufio.Reader)) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			go f.one(conn, after)
		}
	}()
	return "http://" + l.Addr().String()
}

func (f *fickle) one(conn net.Conn, after func(net.Conn, *bufio.Reader)) {
	defer conn.Close()
	r := bufio.NewReader(conn)
	req, err := http.ReadRequest(r)
	if err != nil {
		return
	}
	n, _ := io.Copy(io.Discard, req.Body)
	f.mu.Lock()
	f.answered++
	f.mu.Unlock()
	_, _ = fmt.Fprintf(conn, "HTTP/1.1 200 OK\r\nConnection: keep-alive\r\nTransfer-Encoding: chunked\r\n\r\n8\r\n%08x\r\n0\r\n\r\n", n)
	after(conn, r)
}

func TestDeadConnectionIsNotFailedAttempt(t *testing.T) {
	first := func(r *bufio.Reader) { _, _ = r.ReadByte() }
	tests := []struct {
		name  string
		after func(net.Conn, *bufio.Reader)
	}{
		{"closed at once", func(net.Conn, *bufio.Reader) {}},
		{"closed when the next request comes", func(_ net.Conn, r *bufio.Reader) { first(r) }},
		{"reset when the next request comes", func(c net.Conn, r *bufio.Reader) {
			first(r)
			_ = c.(*net.TCPConn).SetLinger(0)
		}},
		{"closed after the next request was read", func(_ net.Conn, r *bufio.Reader) {
			if req, err := http.ReadRequest(r); err == nil {
				_, _ = io.Copy(io.Discard, req.Body)
			}
		}},
		{"reset after the next request was read", func(c net.Conn, r *bufio.Reader) {
			if req, err := http.ReadRequest(r); err == nil {
				_, _ = io.Copy(io.Discard, req.Body)
			}
			_ = c.(*net.TCPConn).SetLinger(0)
		}},
	}
	for _, tt := range tests {
		for _, size := range []int{10, 8 << 20} {
			t.Run(fmt.Sprintf("%s, %d bytes", tt.name, size), func(t *testing.T) {
				var f fickle
				url := f.serve(t, tt.after)
				c := httpclient.New(httpclient.Settings{Base: &http.Transport{}, Breaker: httpclient.NewBreaker()})
				defer c.CloseIdle()
				text := strings.Repeat("x", size)
				for i := range 3 {
					var got string
					job := send(c, url, text, &got)
					if n, err := c.Call(t.Context(), job); n != 1 || err != nil || got != fmt.Sprintf("%08x", size) {
						t.Fatalf("call %d: attempts %d, got %q, %v", i, n, got, err)
					}
				}
				f.mu.Lock()
				defer f.mu.Unlock()
				if f.answered != 3 {
					t.Errorf("%d requests answered", f.answered)
				}
			})
		}
	}
}

func TestBrokenNewConnectionIsFailedAttempt(t *testing.T) {
	var asked atomic.Int32
	url := serve(t, func(w http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		_, _ = io.Copy(io.Discard, r.Body)
		conn, _, err := w.(http.Hijacker).Hijack()
		if err == nil {
			_ = conn.Close()
		}
	})
	c := httpclient.New(httpclient.Settings{Base: &http.Transport{}})
	var got string
	_, err := c.Call(t.Context(), fetch(c, url, &got))
	var e *httpclient.Error
	if asked.Load() != 1 || !errors.As(err, &e) || e.Kind != model.NetworkError || e.NotSent {
		t.Errorf("asked %d times, %#v", asked.Load(), err)
	}
	_, err = c.Call(t.Context(), fetch(c, "http://127.0.0.1:1", &got))
	if !errors.As(err, &e) || !e.NotSent {
		t.Errorf("no connection, but NotSent is false: %v", err)
	}
}

func TestResetStreamIsFailedAttempt(t *testing.T) {
	var asked atomic.Int32
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		if asked.Add(1) > 1 {
			panic(http.ErrAbortHandler)
		}
	}))
	s.EnableHTTP2 = true
	s.StartTLS()
	t.Cleanup(s.Close)
	c := httpclient.New(httpclient.Settings{Base: s.Client().Transport})
	var got string
	if _, err := c.Call(t.Context(), fetch(c, s.URL, &got)); err != nil {
		t.Fatal(err)
	}
	var e *httpclient.Error
	if _, err := c.Call(t.Context(), fetch(c, s.URL, &got)); !errors.As(err, &e) || e.Kind != model.NetworkError || asked.Load() != 2 {
		t.Errorf("asked %d times, %v", asked.Load(), err)
	}
}
