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
	"github.com/pexctl/pex/internal/wire"
)

// reached is a server at an address.
type reached struct {
	URL     string
	Headers map[string]string

	server *server
	origin *url.URL
}

var _ place = (*reached)(nil)

// address fills the settings of the connection. A value of parameters is one
// part of the path or the query; only the environment names the server.
func (t *server) address(look component.Lookup) (*reached, error) {
	var missing []string
	text := t.config.URL.Render(noting(func(ns, name string) (any, bool) {
		v, ok := look(ns, name)
		if ok && v != nil && ns != "env" {
			return strings.ReplaceAll(url.QueryEscape(fmt.Sprint(v)), "+", "%20"), true
		}
		return v, ok
	}, &missing))
	if len(missing) > 0 {
		return nil, unset("url", missing)
	}
	u, err := url.Parse(strings.TrimSpace(text))
	switch {
	case err != nil || !address(u):
		return nil, errors.New("url is no http or https address")
	case u.User != nil:
		return nil, errors.New("url has a user name in it: send it under headers, as Authorization")
	}
	return &reached{URL: u.String(), Headers: values(t.config.Headers, look), server: t, origin: u}, nil
}

// open implements place. Nothing is sent yet.
func (r *reached) open() (*carrier, error) {
	t := r.server
	certificates, err := wire.CertificatesOf(t.env).TLS()
	if err != nil {
		return nil, err
	}
	trips, client := r.client(certificates)
	events := t.config.MaxMessageBytes
	return &carrier{
		transport: &sdk.StreamableClientTransport{Endpoint: r.URL, HTTPClient: client, MaxEventSize: events, OAuthHandler: t.oauth(r.origin)},
		older: func() sdk.Transport {
			switch trips.refused.Load() {
			case http.StatusBadRequest, http.StatusNotFound, http.StatusMethodNotAllowed:
				return &sdk.SSEClientTransport{Endpoint: r.URL, HTTPClient: client, MaxEventSize: events}
			}
			return nil
		},
		end: func() {
			trips.stop()
			client.CloseIdleConnections()
		},
		about: trips.about,
	}, nil
}

// client is behind the guard: the author's own host may be anywhere that its
// author named by address, others only where the settings say.
func (r *reached) client(certificates *tls.Config) (*trips, *http.Client) {
	c := r.server.config
	client := wire.NewGuarded(wire.GuardSettings{
		AllowHosts: append([]string{hostPort(r.origin)}, c.AllowHosts...), AllowPrivate: c.AllowPrivate,
		MaxBody: int64(c.MaxMessageBytes), UserAgent: r.server.settings.UserAgent, TLS: certificates, Stream: true,
	})
	t := &trips{base: client.Transport, headers: r.Headers, origin: r.origin, signs: c.Auth != nil}
	t.life, t.stop = context.WithCancel(context.Background())
	client.Transport = t
	return t, client
}

// trips are the requests of one connection: they end with it, and carry the
// author's headers where the author sends them.
type trips struct {
	base    http.RoundTripper
	headers map[string]string
	origin  *url.URL
	signs   bool            // a person signs in when the server asks who calls
	life    context.Context // of the connection
	stop    context.CancelFunc
	refused atomic.Int64 // see note; 0 = none
}

// RoundTrip implements http.RoundTripper.
func (t *trips) RoundTrip(req *http.Request) (*http.Response, error) {
	ctx, cancel := context.WithCancelCause(req.Context())
	stop := context.AfterFunc(t.life, func() { cancel(errClosed) })
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
	t.note(req.Method, resp.StatusCode)
	resp.Body = &heldBody{resp.Body, release}
	return resp, nil
}

// note keeps the last refusal of a message, until one is taken.
func (t *trips) note(method string, status int) {
	if method != http.MethodPost {
		return // servers need not have the stream that GET asks for
	}
	if status < 400 {
		status = 0
	}
	t.refused.Store(int64(status))
}

// CloseIdleConnections lets http.Client pass the wish on.
func (t *trips) CloseIdleConnections() {
	if b, ok := t.base.(interface{ CloseIdleConnections() }); ok {
		b.CloseIdleConnections()
	}
}

// about is the last refusal, with the way out where there is one.
func (t *trips) about() string {
	status := int(t.refused.Load())
	switch status {
	case 0:
		return ""
	case http.StatusUnauthorized, http.StatusForbidden:
		if t.signs {
			break // which tells its own troubles
		}
		return fmt.Sprintf("it answered HTTP %d %s: send what it wants under headers, such as Authorization: Bearer ${env.TOKEN}, or sign in with auth: {type: oauth}", status, http.StatusText(status))
	}
	return fmt.Sprintf("it answered HTTP %d %s", status, http.StatusText(status))
}

// heldBody lets the request's context go when the body is closed.
type heldBody struct {
	io.ReadCloser
	release func()
}

// Close implements io.Closer.
func (b *heldBody) Close() error {
	defer b.release()
	return b.ReadCloser.Close()
}
