package modelhttptest

import (
	"bufio"
	"fmt"
	"net"
	"net/http"
	"strings"
	"testing"
)

// DeadConnections checks that no call fails, and no attempt is counted, when the server closes an idle connection at
// any moment.
func DeadConnections(t *testing.T, s Provider) {
	tests := []struct {
		name  string
		after func(*net.TCPConn, *bufio.Reader)
	}{
		{"at once", func(*net.TCPConn, *bufio.Reader) {}},
		{"before it reads the next request", func(c *net.TCPConn, r *bufio.Reader) {
			_, _ = r.ReadByte()
			_ = c.SetLinger(0)
		}},
		{"after it has read the next request", func(_ *net.TCPConn, r *bufio.Reader) {
			if req, err := http.ReadRequest(r); err == nil {
				_, _ = drain(req.Body)
			}
		}},
	}
	for _, tt := range tests {
		for _, size := range []int{4, 4 << 20} {
			t.Run(fmt.Sprintf("%s of %d bytes", tt.name, size), func(t *testing.T) {
				base := &http.Transport{}
				defer base.CloseIdleConnections()
				m := s.model(t, s.serve(t, tt.after), base)
				for i := range 4 {
					got, err := generate(t.Context(), m, strings.Repeat("p", size))
					if err != nil || got.Text != answer || got.Attempts != 0 {
						t.Fatalf("call %d: %+v, %v", i, got, err)
					}
				}
			})
		}
	}
}

// serve starts a server that answers one request on each connection, calls after and closes the connection. It returns
// the URL.
func (s Provider) serve(t *testing.T, after func(*net.TCPConn, *bufio.Reader)) string {
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
			go func() {
				defer func() { _ = conn.Close() }()
				r := bufio.NewReader(conn)
				req, err := http.ReadRequest(r)
				if err != nil {
					return
				}
				_, _ = drain(req.Body)
				fmt.Fprintf(conn, "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", len(s.Reply), s.Reply)
				after(conn.(*net.TCPConn), r)
			}()
		}
	}()
	return "http://" + l.Addr().String()
}
