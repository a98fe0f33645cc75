package server_test

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/binary"
	"encoding/pem"
	"io"
	"log/slog"
	"math/big"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pexctl/pex/internal/syncbuffer"
	"github.com/pexctl/pex/server"
)

// writeCertificate writes a self-signed certificate for localhost and its key.
func writeCertificate(t *testing.T, dir, name string) server.Certificate {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: name}, DNSNames: []string{"localhost"},
		NotBefore: time.Unix(0, 0), NotAfter: time.Date(2100, 1, 1, 0, 0, 0, 0, time.UTC), IsCA: true, BasicConstraintsValid: true,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	c := server.Certificate{Cert: filepath.Join(dir, "cert.pem"), Key: filepath.Join(dir, "key.pem")}
	write(t, c.Cert, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}))
	write(t, c.Key, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: private}))
	return c
}

func write(t *testing.T, name string, b []byte) {
	t.Helper()
	if err := os.WriteFile(name, b, 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestCertificateIsReloadedWhenTheFilesChange(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		log := &syncbuffer.Buffer{}
		files := writeCertificate(t, dir, "first")
		get, err := server.Certificates(files, slog.New(slog.NewTextHandler(log, nil)))
		if err != nil {
			t.Fatal(err)
		}
		name := func() string {
			c, err := get(nil)
			if err != nil {
				t.Fatal(err)
			}
			return c.Leaf.Subject.CommonName
		}
		writeCertificate(t, dir, "the second")
		if got := name(); got != "first" {
			t.Errorf("checked again at once: %s", got)
		}
		time.Sleep(time.Second)
		if got := name(); got != "the second" {
			t.Errorf("after a second: %s", got)
		}
		write(t, files.Key, []byte("not a key"))
		time.Sleep(time.Second)
		if got := name(); got != "the second" || strings.Count(log.String(), "keep the previous TLS certificate") != 1 {
			t.Errorf("with an invalid key: %s\n%s", got, log)
		}
		time.Sleep(time.Minute)
		if name(); strings.Count(log.String(), "keep the previous TLS certificate") != 1 {
			t.Errorf("one error is reported again and again:\n%s", log)
		}
		writeCertificate(t, dir, "the third one")
		time.Sleep(time.Second)
		if got := name(); got != "the third one" {
			t.Errorf("after the repair: %s", got)
		}
		if err := os.Remove(files.Cert); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Second)
		if got := name(); got != "the third one" {
			t.Errorf("without the file: %s", got)
		}
	})
}

func TestMissingCertificate(t *testing.T) {
	_, err := server.New(server.Options{Handler: http.HandlerFunc(echo), TLS: &server.Certificate{Cert: "no.pem", Key: "no.key"}})
	if err == nil || !strings.HasPrefix(err.Error(), "TLS certificate no.pem with key no.key: ") {
		t.Error(err)
	}
}

// h2 is a client of HTTP/2 that sends frames of its own.
type h2 struct {
	t    *testing.T
	conn *tls.Conn
}

func dialH2(t *testing.T, address string) *h2 {
	t.Helper()
	conn, err := tls.Dial("tcp", address, &tls.Config{InsecureSkipVerify: true, NextProtos: []string{"h2"}}) //nolint:gosec // a test
	if err != nil {
		t.Fatal(err)
	}
	c := &h2{t, conn}
	if _, err := io.WriteString(conn, "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	if err := c.send(4, 0, 0, nil); err != nil { // SETTINGS
		t.Fatal(err)
	}
	return c
}

// send sends a frame.
func (c *h2) send(kind, flags byte, stream uint32, payload []byte) error {
	frame := []byte{byte(len(payload) >> 16), byte(len(payload) >> 8), byte(len(payload)), kind, flags}
	frame = binary.BigEndian.AppendUint32(frame, stream)
	_, err := c.conn.Write(append(frame, payload...))
	return err
}

// goAway reads frames until the server closes the connection, and returns the code that
// it gives as the reason.
func (c *h2) goAway() (code uint32) {
	header := make([]byte, 9)
	for {
		if _, err := io.ReadFull(c.conn, header); err != nil {
			return code
		}
		payload := make([]byte, int(header[0])<<16|int(header[1])<<8|int(header[2]))
		if _, err := io.ReadFull(c.conn, payload); err != nil {
			return code
		}
		if header[3] == 7 { // GOAWAY
			code = binary.BigEndian.Uint32(payload[4:8])
		}
	}
}

// A client that opens streams and resets them at once loses its connection; other clients
// are served.
func TestRapidResetClosesTheConnection(t *testing.T) {
	t.Parallel()
	files := writeCertificate(t, t.TempDir(), "localhost")
	gate := make(chan struct{})
	h := http.NewServeMux()
	h.HandleFunc("/", func(http.ResponseWriter, *http.Request) { <-gate }) // a handler that does not notice the reset
	s, err := server.New(server.Options{Handler: h, TLS: &files})
	if err != nil {
		t.Fatal(err)
	}
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() { done <- s.Serve(t.Context(), ln) }()
	t.Cleanup(func() {
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	attacker := dialH2(t, ln.Addr().String())
	closed := make(chan uint32, 1)
	go func() { closed <- attacker.goAway() }()
	var headers bytes.Buffer
	headers.Write([]byte{0x82, 0x87, 0x84, 0x41, 9}) // :method GET, :scheme https, :path /, :authority
	headers.WriteString("localhost")
	cancel := []byte{0, 0, 0, 8}
	for stream := uint32(1); stream < 1_000_000; stream += 2 {
		if attacker.send(1, 5, stream, headers.Bytes()) != nil || attacker.send(3, 0, stream, cancel) != nil {
			break
		}
	}
	if code := <-closed; code != 11 { // ENHANCE_YOUR_CALM
		t.Errorf("the connection was closed with code %d", code)
	}
	client := &http.Client{Transport: &http.Transport{
		TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, ForceAttemptHTTP2: true, //nolint:gosec // a test
	}}
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "https://"+ln.Addr().String()+"/healthz", nil)
	if err != nil {
		t.Fatal(err)
	}
	res, err := client.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	res.Body.Close()
	if res.StatusCode != 200 || res.ProtoMajor != 2 {
		t.Errorf("another client: %s %s", res.Proto, res.Status)
	}
	client.CloseIdleConnections()
	close(gate)
}
