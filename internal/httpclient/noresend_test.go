package httpclient_test

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pexctl/pex/internal/httpclient"
)

// slowServer is a fake server in a bubble. It responds to the first request on each connection, reads the second, works on
// it for some time, and closes the connection.
type slowServer struct {
	works time.Duration
	read  atomic.Int32
}

func (d *slowServer) dial(context.Context, string, string) (net.Conn, error) {
	here, there := net.Pipe()
	go func() {
		defer there.Close()
		r := bufio.NewReader(there)
		for n := range 2 {
			req, err := http.ReadRequest(r)
			if err != nil {
				return
			}
			_, _ = io.Copy(io.Discard, req.Body)
			d.read.Add(1)
			if n == 0 {
				time.Sleep(time.Second) // so that concurrent calls open one connection each
				_, _ = io.WriteString(there, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}")
			}
		}
		time.Sleep(d.works)
	}()
	return here, nil
}

func TestPossiblyProcessedRequestIsNotResent(t *testing.T) {
	tests := []struct {
		name   string
		works  time.Duration
		once   bool
		key    bool
		read   int32
		failed bool
	}{
		{"read, and the connection closed at once", 0, false, false, 6, false},
		{"read, and at work for a while", 10 * time.Second, false, false, 1, true},
		{"read, and at work for a while, with a key", 10 * time.Second, false, true, 1, true},
		{"paid by a budget", 0, true, false, 1, true},
		{"paid by a budget, with a key", 0, true, true, 1, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				d := &slowServer{works: tt.works}
				base := &http.Transport{DialContext: d.dial, MaxIdleConnsPerHost: 64}
				defer base.CloseIdleConnections()
				c := httpclient.New(httpclient.Settings{Base: base})
				for range 5 {
					var got string
					go func() { _, _ = c.Call(t.Context(), fetch(c, "http://desk.test", &got)) }()
				}
				time.Sleep(time.Minute)
				d.read.Store(0)
				var got string
				job := keyed(c, tt.key, &got)
				job.NoResend = tt.once
				_, err := c.Call(t.Context(), job)
				if failed := err != nil; failed != tt.failed || d.read.Load() != tt.read {
					t.Errorf("read %d times, want %d: %v", d.read.Load(), tt.read, err)
				}
			})
		})
	}
}

// brokenConn is a connection that fails when a second request is written.
type brokenConn struct {
	net.Conn
	answered atomic.Bool
	broken   *atomic.Int32
}

func (m *brokenConn) Read(p []byte) (int, error) {
	n, err := m.Conn.Read(p)
	if n > 0 {
		m.answered.Store(true)
	}
	return n, err
}

func (m *brokenConn) Write(p []byte) (int, error) {
	if m.answered.Load() {
		m.broken.Add(1)
		return 1, errors.New("broken pipe")
	}
	return m.Conn.Write(p)
}

// If many idle connections are dead, the server is probably down: after three resends the attempt fails. Now and then
// net/http resends the request itself, which does not count.
func TestManyDeadConnectionsFailAttempt(t *testing.T) {
	const many = 32
	for dead, ok := range map[int]bool{1: true, 3: true, many: false} {
		synctest.Test(t, func(t *testing.T) {
			var d slowServer
			var broken atomic.Int32
			base := &http.Transport{MaxIdleConnsPerHost: 64, DialContext: func(ctx context.Context, network, addr string) (net.Conn, error) {
				conn, err := d.dial(ctx, network, addr)
				return &brokenConn{Conn: conn, broken: &broken}, err
			}}
			defer base.CloseIdleConnections()
			c := httpclient.New(httpclient.Settings{Base: base})
			for range dead {
				var got string
				go func() { _, _ = c.Call(t.Context(), fetch(c, "http://desk.test", &got)) }()
			}
			time.Sleep(time.Minute)
			var got string
			attempts, err := c.Call(t.Context(), fetch(c, "http://desk.test", &got))
			met := int(broken.Load())
			if attempts != 1 || (err == nil) != ok || ok && met != dead || !ok && (met < 4 || met == many) {
				t.Errorf("%d dead connections: %d attempts, met %d of them: %v", dead, attempts, met, err)
			}
		})
	}
}

// keyed is fetch, optionally with an idempotency key.
func keyed(c *httpclient.Client, key bool, into *string) httpclient.Call {
	return httpclient.Call{Do: func(ctx context.Context) (int, error) {
		req, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://desk.test", strings.NewReader("{}"))
		if err != nil {
			return 0, err
		}
		if key {
			req.Header.Set("Idempotency-Key", "one")
		}
		resp, err := c.HTTP().Do(req)
		if err != nil {
			return 0, err
		}
		defer resp.Body.Close()
		text, err := io.ReadAll(resp.Body)
		*into = string(text)
		return 0, err
	}}
}

// An HTTP/2 server that shuts down reports which requests it has processed.
func TestProcessedRequestIsNotResentAfterGoAway(t *testing.T) {
	var asked atomic.Int32
	going := make(chan struct{})
	site := func() *httptest.Server {
		s := httptest.NewUnstartedServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			if asked.Add(1) == 2 {
				close(going)
				<-r.Context().Done()
			}
		}))
		s.EnableHTTP2 = true
		s.StartTLS()
		t.Cleanup(s.Close)
		return s
	}
	first, next := site(), site()
	base := first.Client().Transport.(*http.Transport)
	var dialled atomic.Int32
	base.DialContext = func(ctx context.Context, _, _ string) (net.Conn, error) {
		to := first
		if dialled.Add(1) > 1 {
			to = next
		}
		return (&net.Dialer{}).DialContext(ctx, "tcp", to.Listener.Addr().String())
	}
	go func() {
		<-going
		ctx, cancel := context.WithTimeout(context.Background(), 100*time.Millisecond)
		defer cancel()
		_ = first.Config.Shutdown(ctx) // sends GOAWAY and waits
		_ = first.Config.Close()
	}()
	c := httpclient.New(httpclient.Settings{Base: base})
	var got string
	if _, err := c.Call(t.Context(), fetch(c, first.URL, &got)); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Call(t.Context(), fetch(c, first.URL, &got)); err == nil || asked.Load() != 2 {
		t.Errorf("asked %d times: %v", asked.Load(), err)
	}
}
