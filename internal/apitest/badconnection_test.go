package apitest_test

import (
	"bufio"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/pexctl/pex/server"
	"github.com/pexctl/pex/server/manager"
)

// waiting starts a server with a run that waits for an answer in memory, so that its feed is
// open.
func waiting(t *testing.T, o server.Options) *listening {
	t.Helper()
	l := listen(t, "bad-input", roomy, o, func(o *manager.Options) { o.ParkAfter = time.Hour })
	if a := l.post("ann", "desk", `{"question": "hi", "run_id": "r-1"}`, "Prefer", "wait=60"); a.StatusCode != 200 || !strings.Contains(a.body, "tool.0.approval") {
		t.Fatal(a.StatusCode, a.body)
	}
	return l
}

// unharmed checks that the run of waiting continues to its end.
func (l *listening) unharmed() {
	l.t.Helper()
	a := l.send("bea", http.MethodPost, "/v1/runs/r-1/answers", strings.NewReader(`{"path": "step.s1/turn.1/tool.0.approval", "do": "approve"}`))
	if a.StatusCode != 200 {
		l.t.Fatal(a.StatusCode, a.body)
	}
	l.await("r-1")
	if a := l.get("ann", "/v1/runs/r-1"); a.member("status") != "completed" {
		l.t.Error(a.body)
	}
}

// dial opens a connection and writes text to it.
func (l *listening) dial(text string) net.Conn {
	l.t.Helper()
	conn, err := net.Dial("tcp", l.address)
	if err == nil {
		_, err = io.WriteString(conn, text)
	}
	if err != nil {
		l.t.Fatal(err)
	}
	l.t.Cleanup(func() { conn.Close() })
	return conn
}

// watch is the request for the feed of the run of waiting.
func watch(headers string) string {
	return "GET /v1/runs/r-1/events HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer " + token("ann") + "\r\n" + headers + "\r\n"
}

// status returns the status line of the response on a connection, or "closed".
func status(conn net.Conn) string {
	line, err := bufio.NewReader(conn).ReadString('\n')
	if err != nil {
		return "closed"
	}
	return strings.TrimSpace(line)
}

func TestASlowBody(t *testing.T) {
	l := waiting(t, server.Options{Limits: server.Limits{ReadBody: 50 * time.Millisecond}})
	conn := l.dial("POST /v1/agents/hello/runs HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\nAuthorization: Bearer " + token("ann") + "\r\n\r\n{")
	if got := status(conn); got != "HTTP/1.1 408 Request Timeout" {
		t.Error(got)
	}
	l.unharmed()
}

func TestASlowHeader(t *testing.T) {
	l := waiting(t, server.Options{Limits: server.Limits{ReadHeader: 50 * time.Millisecond}})
	if got := status(l.dial("GET /v1/agents HTTP/1.1\r\nHost: loc")); got != "closed" {
		t.Error(got)
	}
	l.unharmed()
}

func TestALargeHeader(t *testing.T) {
	l := waiting(t, server.Options{})
	if got := status(l.dial(watch("X-Large: " + strings.Repeat("x", 1<<20) + "\r\n"))); got != "HTTP/1.1 431 Request Header Fields Too Large" && got != "closed" {
		t.Error(got)
	}
	if got := status(l.dial(watch(strings.Repeat("X-Many: x\r\n", 5000)))); got != "HTTP/1.1 431 Request Header Fields Too Large" {
		t.Error(got)
	}
	l.unharmed()
}

// A client that does not read is dropped, and its feed ends.
func TestASlowReader(t *testing.T) {
	l := waiting(t, server.Options{Limits: server.Limits{Write: 50 * time.Millisecond}})
	conn := l.dial(watch(""))
	if err := conn.(*net.TCPConn).SetReadBuffer(1); err != nil {
		t.Fatal(err)
	}
	for l.streams.Len() == 0 {
		time.Sleep(time.Millisecond)
	}
	l.unharmed()
}

// Feeds beyond the limits of the server and of a tenant are rejected, and so are connections.
func TestManyWatchers(t *testing.T) {
	const connections = 100
	l := waiting(t, server.Options{Limits: server.Limits{Connections: connections}})
	l.client.CloseIdleConnections()
	got := map[string]int{}
	var open []net.Conn
	for range connections + 20 {
		conn := l.dial(watch(""))
		got[status(conn)]++
		open = append(open, conn)
	}
	if got["HTTP/1.1 200 OK"] != 64 || got["HTTP/1.1 503 Service Unavailable"] == 0 || got["closed"] == 0 {
		t.Error(got)
	}
	for _, conn := range open {
		conn.Close()
	}
	for l.streams.Len() > 0 { // their places are free again
		time.Sleep(time.Millisecond)
	}
	l.unharmed()
}

// writeCertificate writes the certificate of the tests of net/http for 127.0.0.1 and its key.
func writeCertificate(t *testing.T) (*server.Certificate, *x509.CertPool) {
	t.Helper()
	s := httptest.NewTLSServer(nil)
	defer s.Close()
	key, err := x509.MarshalPKCS8PrivateKey(s.TLS.Certificates[0].PrivateKey)
	if err != nil {
		t.Fatal(err)
	}
	dir, roots := t.TempDir(), x509.NewCertPool()
	roots.AddCert(s.Certificate())
	c := &server.Certificate{Cert: filepath.Join(dir, "cert.pem"), Key: filepath.Join(dir, "key.pem")}
	for file, block := range map[string]*pem.Block{
		c.Cert: {Type: "CERTIFICATE", Bytes: s.Certificate().Raw}, c.Key: {Type: "PRIVATE KEY", Bytes: key},
	} {
		if err := os.WriteFile(file, pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return c, roots
}

// A client that resets its requests as soon as it has sent them does not stop the server.
func TestRapidResets(t *testing.T) {
	certificate, roots := writeCertificate(t)
	l := listen(t, "bad-input", roomy, server.Options{TLS: certificate}, unchanged)
	l.scheme = "https"
	transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots}, ForceAttemptHTTP2: true}
	l.client = &http.Client{Transport: transport}
	requests := 200
	if testing.Short() {
		requests = 40
	}
	var resets sync.WaitGroup
	for range 16 {
		resets.Go(func() {
			for range requests {
				ctx, cancel := context.WithCancel(t.Context())
				r, err := http.NewRequestWithContext(ctx, http.MethodGet, "https://"+l.address+"/v1/runs", nil)
				if err != nil {
					t.Error(err)
				} else {
					r.Header.Set("Authorization", "Bearer "+token("ann"))
					time.AfterFunc(50*time.Microsecond, cancel)
					if res, err := l.client.Do(r); err == nil {
						res.Body.Close()
					}
				}
				cancel()
			}
		})
	}
	resets.Wait()
	if a := l.post("ann", "hello", `{"question": "hi"}`, "Prefer", "wait=60"); a.StatusCode != 200 || a.ProtoMajor != 2 || a.member("status") != "completed" {
		t.Error(a.Proto, a.StatusCode, a.body)
	}
	transport.CloseIdleConnections()
	if strings.Contains(l.log.String(), "level=ERROR") {
		t.Error(l.log.String())
	}
}
