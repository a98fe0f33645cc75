package faultserver

import (
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"
)

// site is a server with the way to it.
type site struct {
	name      string
	base      string
	server    *server
	host      *httptest.Server
	transport *http.Transport // nil = the house's own connections
}

var names = [lanes]string{"plain", "reused", "TLS", "severed TLS", "strange TLS"}

func open(t *testing.T, on lane, f *Format, list []fault) *site {
	t.Helper()
	s := hosted(names[on], f, list)
	switch on {
	case plain, reused:
		s.host.Start()
	case severed:
		s.host.Listener = severing{s.host.Listener}
		s.host.StartTLS()
	default:
		s.host.StartTLS()
	}
	if on == secure {
		s.transport = s.host.Client().Transport.(*http.Transport)
	}
	s.base = s.host.URL
	return s
}

// openHTTP2 opens a site that speaks HTTP/2.
func openHTTP2(f *Format, list []fault) *site {
	s := hosted("HTTP/2", f, list)
	s.host.EnableHTTP2 = true
	s.host.StartTLS()
	s.transport, s.base = s.host.Client().Transport.(*http.Transport), s.host.URL
	return s
}

func hosted(name string, f *Format, list []fault) *site {
	s := &site{name: name, server: &server{format: f, faults: list, seen: map[string]int{}}}
	s.host = httptest.NewUnstartedServer(s.server)
	s.host.Config.ErrorLog = log.New(io.Discard, "", 0)
	return s
}

func (s *site) close() {
	if s.transport != nil {
		s.transport.CloseIdleConnections()
	}
	s.host.CloseClientConnections()
	s.host.Close()
}

// severing gives connections that end in the middle of a handshake.
type severing struct{ net.Listener }

// Accept implements net.Listener.
func (l severing) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return &short{Conn: c}, nil
}

// short is a connection that is cut after some bytes.
type short struct {
	net.Conn
	seen int
}

// Read implements net.Conn.
func (c *short) Read(p []byte) (int, error) {
	if c.seen > 100 {
		_ = c.Close()
		return 0, io.EOF
	}
	n, err := c.Conn.Read(p[:min(len(p), 101)])
	c.seen += n
	return n, err
}
