package faultserver

import (
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"
)

// endpoint is a server and the transport for it.
type endpoint struct {
	name      string
	base      string
	server    *server
	host      *httptest.Server
	transport *http.Transport // nil = the default transport
}

var names = [serverKinds]string{"plain", "reused", "TLS", "severed TLS", "strange TLS"}

func openEndpoint(t *testing.T, on serverKind, f *Format, list []fault) *endpoint {
	t.Helper()
	s := newEndpoint(names[on], f, list)
	switch on {
	case plain, reusedConn:
		s.host.Start()
	case brokenTLS:
		s.host.Listener = brokenHandshakes{s.host.Listener}
		s.host.StartTLS()
	default:
		s.host.StartTLS()
	}
	if on == overTLS {
		s.transport = s.host.Client().Transport.(*http.Transport)
	}
	s.base = s.host.URL
	return s
}

// openHTTP2 starts an HTTP/2 server.
func openHTTP2(f *Format, list []fault) *endpoint {
	s := newEndpoint("HTTP/2", f, list)
	s.host.EnableHTTP2 = true
	s.host.StartTLS()
	s.transport, s.base = s.host.Client().Transport.(*http.Transport), s.host.URL
	return s
}

func newEndpoint(name string, f *Format, list []fault) *endpoint {
	s := &endpoint{name: name, server: &server{format: f, faults: list, requests: map[string]int{}}}
	s.host = httptest.NewUnstartedServer(s.server)
	s.host.Config.ErrorLog = log.New(io.Discard, "", 0)
	return s
}

func (s *endpoint) close() {
	if s.transport != nil {
		s.transport.CloseIdleConnections()
	}
	s.host.CloseClientConnections()
	s.host.Close()
}

// brokenHandshakes accepts connections that end in the middle of the TLS handshake.
type brokenHandshakes struct{ net.Listener }

// Accept implements net.Listener.
func (l brokenHandshakes) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return &limitedConn{Conn: c}, nil
}

// limitedConn is a connection that closes after 100 bytes were read.
type limitedConn struct {
	net.Conn
	read int
}

// Read implements net.Conn.
func (c *limitedConn) Read(p []byte) (int, error) {
	if c.read > 100 {
		_ = c.Close()
		return 0, io.EOF
	}
	n, err := c.Conn.Read(p[:min(len(p), 101)])
	c.read += n
	return n, err
}
