package otel

import (
	"cmp"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net/http"
	"os"
	"strconv"
	"strings"
	"time"
)

// exportTimeout is the timeout of a request to a collector, unless a variable says.
const exportTimeout = 10 * time.Second

// client returns the client of an exporter. It does what that of the SDK does by the same
// variables, but follows no redirects: they would send what is exported and the headers of
// OTEL_EXPORTER_OTLP_HEADERS, which may be keys, to another server.
func (e *environment) client(prefix string) *http.Client {
	transport := http.DefaultTransport.(*http.Transport).Clone() // nothing replaces it
	c := &http.Client{Transport: &receiver{transport, prefix}, Timeout: exportTimeout, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	if ms, err := strconv.Atoi(e.ofSignal(prefix, "TIMEOUT")); err == nil {
		c.Timeout = time.Duration(ms) * time.Millisecond
	}
	trusted, certificate, key := e.ofSignal(prefix, "CERTIFICATE"), e.ofSignal(prefix, "CLIENT_CERTIFICATE"), e.ofSignal(prefix, "CLIENT_KEY")
	if trusted == "" && certificate == "" && key == "" {
		return c
	}
	transport.TLSClientConfig = &tls.Config{MinVersion: tls.VersionTLS12}
	if b, err := os.ReadFile(trusted); err == nil { // checkExporter reports errors
		transport.TLSClientConfig.RootCAs = x509.NewCertPool()
		transport.TLSClientConfig.RootCAs.AppendCertsFromPEM(b)
	}
	if certificate != "" || key != "" {
		pair, err := tls.LoadX509KeyPair(certificate, key)
		if err != nil {
			e.reject(allSignals+"CLIENT_CERTIFICATE", "%v", err)
		}
		transport.TLSClientConfig.Certificates = []tls.Certificate{pair}
	}
	return c
}

// receiver sends requests to the receiver of a signal. Many collectors have none for metrics,
// and respond with 404.
type receiver struct {
	http.RoundTripper
	prefix string // of its variables
}

// RoundTrip implements http.RoundTripper.
func (r *receiver) RoundTrip(req *http.Request) (*http.Response, error) {
	res, err := r.RoundTripper.RoundTrip(req)
	if err != nil || res.StatusCode != http.StatusNotFound {
		return res, err
	}
	signal := strings.TrimSuffix(strings.TrimPrefix(r.prefix, allSignals), "_")
	return nil, errors.Join(fmt.Errorf("the collector accepts no %s there (HTTP 404); OTEL_%s_EXPORTER=none exports none", strings.ToLower(signal), signal), res.Body.Close())
}

// ofSignal returns the value of a variable of an exporter: that of its signal, or else that of
// all signals.
func (e *environment) ofSignal(prefix, name string) string {
	return cmp.Or(e.value(prefix+name), e.value(allSignals+name))
}
