package httpclient_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"io"
	"log"
	"math/big"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/pexctl/pex/engine/retry"
	"github.com/pexctl/pex/internal/httpclient"
)

// written writes PEM blocks to a file and returns its path.
func written(t *testing.T, blocks ...*pem.Block) string {
	t.Helper()
	var text []byte
	for _, b := range blocks {
		text = append(text, pem.EncodeToMemory(b)...)
	}
	path := filepath.Join(t.TempDir(), "some.pem")
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// identity returns a self-signed certificate and its key.
func identity(t *testing.T) (cert, key *pem.Block) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	about := &x509.Certificate{
		SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour), IsCA: true, BasicConstraintsValid: true,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
	}
	signed, err := x509.CreateCertificate(rand.Reader, about, about, private.Public(), private)
	if err != nil {
		t.Fatal(err)
	}
	secret, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	return &pem.Block{Type: "CERTIFICATE", Bytes: signed}, &pem.Block{Type: "PRIVATE KEY", Bytes: secret}
}

// serveTLS starts a TLS server. If client is given, it requires that client certificate.
func serveTLS(t *testing.T, client *pem.Block) (url string, ca *pem.Block) {
	t.Helper()
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.WriteString(w, r.Proto)
	}))
	s.Config.ErrorLog = log.New(io.Discard, "", 0)
	s.EnableHTTP2 = true
	if client != nil {
		// With TLS 1.3 the rejection arrives after the handshake, where a connection reset may arrive first.
		s.TLS = &tls.Config{ClientAuth: tls.RequireAndVerifyClientCert, ClientCAs: x509.NewCertPool(), MaxVersion: tls.VersionTLS12}
		s.TLS.ClientCAs.AppendCertsFromPEM(pem.EncodeToMemory(client))
	}
	s.StartTLS()
	t.Cleanup(s.Close)
	return s.URL, &pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw}
}

func TestCustomCertificates(t *testing.T) {
	cert, key := identity(t)
	open, ca := serveTLS(t, nil)
	closed, closedCA := serveTLS(t, cert)
	trusted := written(t, ca, closedCA)
	tests := []struct {
		name string
		url  string
		c    httpclient.Certificates
		want string // of the error; "" = success
	}{
		{"unknown", open, httpclient.Certificates{}, "set PEX_CA_FILE="},
		{"trusted", open, httpclient.Certificates{CAFile: trusted}, ""},
		{"no client certificate", closed, httpclient.Certificates{CAFile: trusted}, "set PEX_CLIENT_CERT="},
		{"client certificate and key", closed, httpclient.Certificates{CAFile: trusted, ClientCert: written(t, cert), ClientKey: written(t, key)}, ""},
		{"both in one file", closed, httpclient.Certificates{CAFile: trusted, ClientCert: written(t, key, cert)}, ""},
		{"no TLS", strings.Replace(serve(t, func(http.ResponseWriter, *http.Request) {}), "http:", "https:", 1), httpclient.Certificates{CAFile: trusted}, "should base_url begin with http://?"},
		{"another name", strings.Replace(open, "127.0.0.1", "localhost", 1), httpclient.Certificates{CAFile: trusted}, "not valid for this address"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			pool, err := httpclient.Pool(tt.c)
			if err != nil {
				t.Fatal(err)
			}
			c := httpclient.New(httpclient.Settings{Base: pool, Retry: retry.Policy{MaxAttempts: 3}, Sleep: new(recordedWaits).sleep})
			defer c.CloseIdle()
			var got string
			n, err := c.Call(t.Context(), fetch(c, tt.url, &got))
			if tt.want == "" {
				if err != nil || got != "HTTP/2.0" {
					t.Errorf("got %q, %v", got, err)
				}
				return
			}
			var e *httpclient.Error
			if !errors.As(err, &e) || !strings.Contains(e.Message, tt.want) || n != 1 || !e.Final {
				t.Errorf("attempts %d, %v", n, err)
			}
		})
	}
}

func TestInvalidCertificates(t *testing.T) {
	cert, key := identity(t)
	_, other := identity(t)
	tests := []struct {
		name string
		c    httpclient.Certificates
		want string
	}{
		{"no such file", httpclient.Certificates{CAFile: "no/such.pem"}, "PEX_CA_FILE: open no/such.pem: no such file"},
		{"no certificate", httpclient.Certificates{CAFile: written(t, key)}, "has no PEM certificate"},
		{"a key alone", httpclient.Certificates{ClientKey: written(t, key)}, "PEX_CLIENT_KEY is set, but PEX_CLIENT_CERT is not"},
		{"a certificate without key", httpclient.Certificates{ClientCert: written(t, cert)}, "(if the key is in another file"},
		{"the key of another", httpclient.Certificates{ClientCert: written(t, cert), ClientKey: written(t, other)}, "does not match"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			for range 2 {
				if _, err := httpclient.Pool(tt.c); err == nil || !strings.Contains(err.Error(), tt.want) {
					t.Errorf("error %v, want %q", err, tt.want)
				}
			}
		})
	}
}

func TestPoolIsSharedByCertificates(t *testing.T) {
	_, ca := serveTLS(t, nil)
	c := httpclient.Certificates{CAFile: written(t, ca)}
	one, err := httpclient.Pool(c)
	if err != nil {
		t.Fatal(err)
	}
	again, _ := httpclient.Pool(c)
	plain, _ := httpclient.Pool(httpclient.Certificates{})
	if one != again || one == plain {
		t.Error("pools with different certificates are shared")
	}
}
