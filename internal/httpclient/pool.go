package httpclient

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"
	"sync"
	"time"
)

// Certificates are the TLS certificates of a process.
type Certificates struct {
	CAFile     string // PEM certificates trusted in addition to the system's; "" = none
	ClientCert string // PEM client certificate; "" = none
	ClientKey  string // PEM key of ClientCert; "" = in the same file
}

// CertificatesOf returns the certificates set in an environment.
func CertificatesOf(env func(string) string) Certificates {
	return Certificates{CAFile: env("PEX_CA_FILE"), ClientCert: env("PEX_CLIENT_CERT"), ClientKey: env("PEX_CLIENT_KEY")}
}

var pools struct {
	sync.Mutex
	of map[Certificates]*http.Transport
}

// Pool returns the connection pool to model servers with these certificates, which the whole process shares. It uses
// the proxies of the environment: HTTP_PROXY, HTTPS_PROXY and NO_PROXY. Files are read once; the error names an
// invalid one.
func Pool(c Certificates) (http.RoundTripper, error) {
	pools.Lock()
	defer pools.Unlock()
	if t := pools.of[c]; t != nil {
		return t, nil
	}
	t, err := c.transport()
	if err != nil {
		return nil, err
	}
	if pools.of == nil {
		pools.of = map[Certificates]*http.Transport{}
	}
	pools.of[c] = t
	return t, nil
}

func (c Certificates) transport() (*http.Transport, error) {
	t := &http.Transport{
		Proxy:                  http.ProxyFromEnvironment,
		OnProxyConnectResponse: proxyRefused,
		DialContext:            (&net.Dialer{Timeout: connectTimeout, KeepAlive: 30 * time.Second}).DialContext,
		ForceAttemptHTTP2:      true,
		MaxIdleConns:           256,
		MaxIdleConnsPerHost:    64,
		IdleConnTimeout:        90 * time.Second,
		TLSHandshakeTimeout:    connectTimeout,
		MaxResponseHeaderBytes: maxHeader,
	}
	var err error
	t.TLSClientConfig, err = c.TLS()
	return t, err
}

// TLS returns the TLS configuration with these certificates, or nil if there are none. It reads their files; the
// error names an invalid one.
func (c Certificates) TLS() (*tls.Config, error) {
	if c == (Certificates{}) {
		return nil, nil
	}
	t := &tls.Config{MinVersion: tls.VersionTLS12}
	if err := c.trust(t); err != nil {
		return nil, err
	}
	return t, c.present(t)
}

// trust adds the CA file to the system's authorities.
func (c Certificates) trust(in *tls.Config) error {
	if c.CAFile == "" {
		return nil
	}
	text, err := os.ReadFile(c.CAFile)
	if err != nil {
		return fmt.Errorf("PEX_CA_FILE: %w", err)
	}
	if in.RootCAs, err = x509.SystemCertPool(); err != nil {
		in.RootCAs = x509.NewCertPool() // no system pool
	}
	if !in.RootCAs.AppendCertsFromPEM(text) {
		return fmt.Errorf("PEX_CA_FILE: %s has no PEM certificate (-----BEGIN CERTIFICATE-----)", c.CAFile)
	}
	return nil
}

// present sets the client certificate.
func (c Certificates) present(in *tls.Config) error {
	if c.ClientCert == "" && c.ClientKey == "" {
		return nil
	}
	if c.ClientCert == "" {
		return errors.New("PEX_CLIENT_KEY is set, but PEX_CLIENT_CERT is not: set it to the certificate of the key")
	}
	key, hint := c.ClientKey, ""
	if key == "" {
		key, hint = c.ClientCert, " (if the key is in another file, set PEX_CLIENT_KEY)"
	}
	pair, err := tls.LoadX509KeyPair(c.ClientCert, key)
	if err != nil {
		return fmt.Errorf("PEX_CLIENT_CERT %s with the key in %s: %w%s", c.ClientCert, key, err, hint)
	}
	in.Certificates = []tls.Certificate{pair}
	return nil
}

// proxyRefused converts the response of a proxy that rejected a connection.
func proxyRefused(_ context.Context, proxy *url.URL, asked *http.Request, resp *http.Response) error {
	if resp.StatusCode == http.StatusOK {
		return nil
	}
	e := &Error{
		Kind: KindOf(resp.StatusCode), Status: resp.StatusCode,
		Message: "the proxy " + proxy.Host + " does not connect to " + asked.Host + ": " + http.StatusText(resp.StatusCode),
	}
	if resp.StatusCode == http.StatusProxyAuthRequired {
		e.Message += proxyWants
	}
	return e
}

const proxyWants = " (HTTPS_PROXY and HTTP_PROXY may have a user: http://USER:PASSWORD@host:port)"

// proxySecrets returns the passwords in the proxy settings of the environment. Addresses without a scheme use http;
// invalid ones are ignored, as they are not used either.
var proxySecrets = sync.OnceValue(func() (secrets []string) {
	for _, name := range []string{"HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "https_proxy"} {
		address := os.Getenv(name)
		if !strings.Contains(address, "://") {
			address = "http://" + address
		}
		u, err := url.Parse(address)
		if err != nil {
			continue
		}
		if pass, ok := u.User.Password(); ok {
			secrets = append(secrets, pass, u.User.Username()+":"+pass)
		}
	}
	return secrets
})
