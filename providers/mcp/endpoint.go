package mcp

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/pexctl/pex/engine/component"
	"github.com/pexctl/pex/internal/httpclient"
)

// endpoint is a server at a URL.
type endpoint struct {
	URL     string
	Headers map[string]string

	server *server
	origin *url.URL
}

var _ target = (*endpoint)(nil)

// newEndpoint renders the settings of the connection. A parameter can fill one segment of
// the path or query; only environment variables can choose the host.
func (t *server) newEndpoint(look component.Lookup) (*endpoint, error) {
	var missing []string
	text := t.config.URL.Render(noteMissing(func(ns, name string) (any, bool) {
		v, ok := look(ns, name)
		if ok && v != nil && ns != "env" {
			return strings.ReplaceAll(url.QueryEscape(fmt.Sprint(v)), "+", "%20"), true
		}
		return v, ok
	}, &missing))
	if len(missing) > 0 {
		return nil, missingValueError("url", missing)
	}
	u, err := url.Parse(strings.TrimSpace(text))
	switch {
	case err != nil || !isHTTPURL(u):
		return nil, errors.New("url is not an http or https URL")
	case u.User != nil:
		return nil, errors.New("url contains a user name; send credentials under headers, as Authorization")
	}
	return &endpoint{URL: u.String(), Headers: renderMap(t.config.Headers, look), server: t, origin: u}, nil
}

// open implements target. It sends nothing yet.
func (r *endpoint) open() (*connection, error) {
	t := r.server
	certificates, err := httpclient.CertificatesOf(t.env).TLS()
	if err != nil {
		return nil, err
	}
	trips, client := r.newClient(certificates)
	events := t.config.MaxMessageBytes
	return &connection{
		transport: &sdk.StreamableClientTransport{Endpoint: r.URL, HTTPClient: client, MaxEventSize: events, OAuthHandler: t.oauth(r.origin)},
		fallback: func() sdk.Transport {
			switch trips.refused.Load() {
			case http.StatusBadRequest, http.StatusNotFound, http.StatusMethodNotAllowed:
				return &sdk.SSEClientTransport{Endpoint: r.URL, HTTPClient: client, MaxEventSize: events}
			}
			return nil
		},
		close: func() {
			trips.stop()
			client.CloseIdleConnections()
		},
		diagnostics: trips.diagnostics,
	}, nil
}

// newClient returns a guarded client. It may connect to the host in url at any address; other hosts must be allowed by
// the configuration.
func (r *endpoint) newClient(certificates *tls.Config) (*connTransport, *http.Client) {
	c := r.server.config
	client := httpclient.NewGuarded(httpclient.GuardSettings{
		AllowHosts: append([]string{hostPort(r.origin)}, c.AllowHosts...), AllowPrivate: c.AllowPrivate,
		MaxBody: int64(c.MaxMessageBytes), UserAgent: r.server.settings.UserAgent, TLS: certificates, Stream: true,
	})
	t := &connTransport{base: client.Transport, headers: r.Headers, origin: r.origin, usesAuth: c.Auth != nil}
	t.lifetime, t.stop = context.WithCancel(context.Background())
	client.Transport = t
	return t, client
}

// connTransport sends the requests of one connection. It cancels them when the connection
// ends, and adds the author's headers for the author's host.
type connTransport struct {
	base     http.RoundTripper
	headers  map[string]string
	origin   *url.URL
	usesAuth bool            // auth is configured, so a 401 starts a sign-in
	lifetime context.Context // of the connection
	stop     context.CancelFunc
	refused  atomic.Int64 // status of the last refused message; 0 = none
}

// RoundTrip implements http.RoundTripper.
func (t *connTransport) RoundTrip(req *http.Request) (*http.Response, error) {
	ctx, cancel := context.WithCancelCause(req.Context())
	stop := context.AfterFunc(t.lifetime, func() { cancel(errClosed) })
	release := func() { stop(); cancel(nil) }
	out := req.Clone(ctx)
	if req.URL.Scheme == t.origin.Scheme && req.URL.Host == t.origin.Host {
		for name, value := range t.headers {
			out.Header.Set(name, value)
		}
	}
	resp, err := t.base.RoundTrip(out)
	if err != nil {
		release()
		return nil, err
	}
	t.recordStatus(req.Method, resp.StatusCode)
	resp.Body = &cancelBody{resp.Body, release}
	return resp, nil
}

// recordStatus stores the status of the last message if it was refused, else 0.
func (t *connTransport) recordStatus(method string, status int) {
	if method != http.MethodPost {
		return // servers need not support the stream that GET requests
	}
	if status < 400 {
		status = 0
	}
	t.refused.Store(int64(status))
}

// CloseIdleConnections forwards http.Client's call.
func (t *connTransport) CloseIdleConnections() {
	if b, ok := t.base.(interface{ CloseIdleConnections() }); ok {
		b.CloseIdleConnections()
	}
}

// diagnostics describes the last refusal and how to fix it.
func (t *connTransport) diagnostics() string {
	status := int(t.refused.Load())
	switch status {
	case 0:
		return ""
	case http.StatusUnauthorized, http.StatusForbidden:
		if t.usesAuth {
			break // sign-in reports its own errors
		}
		return fmt.Sprintf("it returned HTTP %d %s: set the required headers, such as Authorization: Bearer ${env.TOKEN}, or sign in with auth: {type: oauth}", status, http.StatusText(status))
	}
	return fmt.Sprintf("it returned HTTP %d %s", status, http.StatusText(status))
}

// cancelBody releases the request's context when the body is closed.
type cancelBody struct {
	io.ReadCloser
	release func()
}

// Close implements io.Closer.
func (b *cancelBody) Close() error {
	defer b.release()
	return b.ReadCloser.Close()
}
