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

// Certificates are those that a process needs in the network that it is in.
type Certificates struct {
	CAFile     string // PEM certificates, trusted besides the machine's own; "" = none
	ClientCert string // PEM certificate that servers are shown; "" = none
	ClientKey  string // PEM key of ClientCert; "" = it stands in the same file
}

// CertificatesOf are those that an environment names.
func CertificatesOf(env func(string) string) Certificates {
	return Certificates{CAFile: env("PEX_CA_FILE"), ClientCert: env("PEX_CLIENT_CERT"), ClientKey: env("PEX_CLIENT_KEY")}
}

var pools struct {
	sync.Mutex
	of map[Certificates]*http.Transport
}

// Pool is the process's one set of connections to model servers with these
// certificates, through the proxies of the environment: HTTP_PROXY, HTTPS_PROXY
// and NO_PROXY. Files are read once; an error names the one that cannot be used.
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

// TLS is how a client with these certificates takes part in TLS, nil without
// any. It reads their files; an error names the one that cannot be used.
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

// trust adds the network's own authorities to the machine's.
func (c Certificates) trust(in *tls.Config) error {
	if c.CAFile == "" {
		return nil
	}
	text, err := os.ReadFile(c.CAFile)
	if err != nil {
		return fmt.Errorf("PEX_CA_FILE: %w", err)
	}
	if in.RootCAs, err = x509.SystemCertPool(); err != nil {
		in.RootCAs = x509.NewCertPool() // a machine without any
	}
	if !in.RootCAs.AppendCertsFromPEM(text) {
		return fmt.Errorf("PEX_CA_FILE: %s holds no PEM certificate (-----BEGIN CERTIFICATE-----)", c.CAFile)
	}
	return nil
}

// present makes the client's certificate the one that servers are shown.
func (c Certificates) present(in *tls.Config) error {
	if c.ClientCert == "" && c.ClientKey == "" {
		return nil
	}
	if c.ClientCert == "" {
		return errors.New("PEX_CLIENT_KEY is set and PEX_CLIENT_CERT is not: name the certificate that the key belongs to")
	}
	key, hint := c.ClientKey, ""
	if key == "" {
		key, hint = c.ClientCert, " (PEX_CLIENT_KEY names the key's file, where it is another)"
	}
	pair, err := tls.LoadX509KeyPair(c.ClientCert, key)
	if err != nil {
		return fmt.Errorf("PEX_CLIENT_CERT %s with the key in %s: %w%s", c.ClientCert, key, err, hint)
	}
	in.Certificates = []tls.Certificate{pair}
	return nil
}

// proxyRefused types the answer of a proxy that does not let a call to a
// server through.
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

const proxyWants = " (HTTPS_PROXY and HTTP_PROXY may name a user: http://USER:PASSWORD@host:port)"

// proxySecrets are the passwords in the proxies of the environment. An address
// without a scheme is one of http; one that cannot be read is not used either.
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
