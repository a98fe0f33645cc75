package httpclient

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"path"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/pexctl/pex/engine/model"
	"github.com/pexctl/pex/engine/tracecontext"
)

// Defaults of a guarded client.
const (
	guardedMaxBody   = 4 << 20
	guardedTimeout   = 30 * time.Second
	guardedIdle      = 16 // idle connections per host, for Stream
	defaultRedirects = 3
)

// GuardSettings are the restrictions of a guarded client.
type GuardSettings struct {
	// AllowHosts lists the allowed hosts: "host", "host:port", with * as in path.Match. Empty = every host with a
	// public address. An entry that is an address, or localhost, may be in a private network, since the user named it
	// explicitly.
	AllowHosts   []string
	AllowPrivate bool           // allow addresses of private networks
	AllowNets    []netip.Prefix // allow addresses of these networks
	MaxBody      int64          // after decompression; 0 = 4 MiB
	MaxRedirects int            // 0 = 3, negative = none
	Timeout      time.Duration  // for a request including redirects and body; 0 = 30 s
	UserAgent    string         // "" = "pex"
	// Stream is for long-lived connections: Timeout is ignored, connections are kept open, and MaxBody does not apply
	// to event streams, whose reader limits the events.
	Stream bool
	TLS    *tls.Config // see Certificates; nil = the system's certificates
}

// NewGuarded returns a client for addresses that a model may choose. It checks an address when it is dialled, after
// name resolution, so that a name cannot resolve differently between check and use. Each redirect is checked again
// and carries no credentials to another host. The client uses no proxy and keeps no connections open unless Stream is
// set. Responses of every status are returned. A rejected request returns an *Error inside the client's *url.Error;
// test it with errors.Is for ErrBlocked, ErrRedirect and ErrTooLarge (from reading the body).
func NewGuarded(g GuardSettings) *http.Client {
	t := &http.Transport{
		DialContext:            guardedDial(g),
		DisableKeepAlives:      !g.Stream,
		MaxIdleConnsPerHost:    guardedIdle,
		IdleConnTimeout:        guardedTimeout,
		ForceAttemptHTTP2:      true,
		TLSHandshakeTimeout:    connectTimeout,
		TLSClientConfig:        g.TLS,
		MaxResponseHeaderBytes: maxHeader,
	}
	if g.MaxBody <= 0 {
		g.MaxBody = guardedMaxBody
	}
	switch {
	case g.Stream:
		g.Timeout = 0
	case g.Timeout <= 0:
		g.Timeout = guardedTimeout
	}
	if g.MaxRedirects == 0 {
		g.MaxRedirects = defaultRedirects
	}
	return &http.Client{
		Transport:     &guarded{settings: g, base: t},
		CheckRedirect: guardedRedirect(max(g.MaxRedirects, 0)),
		Timeout:       g.Timeout,
	}
}

// guarded checks requests before they are sent, and limits the size of responses.
type guarded struct {
	settings GuardSettings
	base     http.RoundTripper
}

// CloseIdleConnections closes idle connections of the underlying transport.
func (g *guarded) CloseIdleConnections() {
	if b, ok := g.base.(interface{ CloseIdleConnections() }); ok {
		b.CloseIdleConnections()
	}
}

// RoundTrip implements http.RoundTripper.
func (g *guarded) RoundTrip(req *http.Request) (*http.Response, error) {
	if err := g.settings.check(req); err != nil {
		closeBody(req)
		return nil, err
	}
	req = req.Clone(req.Context())
	setUserAgent(req, g.settings.UserAgent)
	tracecontext.Inject(req.Context(), req.Header)
	x := traced(req, redactor{})
	resp, err := g.base.RoundTrip(req)
	x.response(resp, err)
	if err != nil {
		return nil, err
	}
	if !g.settings.Stream || !isStream(resp.Header.Get("Content-Type")) {
		resp.Body = &cappedBody{ReadCloser: resp.Body, most: g.settings.MaxBody}
	}
	return resp, nil
}

func (g GuardSettings) check(req *http.Request) error {
	if s := req.URL.Scheme; s != "http" && s != "https" {
		return blocked("unsupported scheme %q; use http or https", s)
	}
	if req.URL.User != nil {
		return blocked("addresses with a user name are not allowed")
	}
	host, port := req.URL.Hostname(), req.URL.Port()
	if port == "" {
		port = map[string]string{"http": "80", "https": "443"}[req.URL.Scheme]
	}
	if _, ok := g.allows(host, port); !ok {
		return blocked("host %s is not among the allowed hosts (%s)", host, strings.Join(g.AllowHosts, ", "))
	}
	return nil
}

// allows reports whether a host is allowed, and by which entry ("" if no entry is needed).
func (g GuardSettings) allows(host, port string) (entry string, ok bool) {
	if len(g.AllowHosts) == 0 {
		return "", true
	}
	host = strings.ToLower(strings.TrimSuffix(host, "."))
	for _, entry := range g.AllowHosts {
		name, only := splitEntry(strings.ToLower(entry))
		if only != "" && only != port {
			continue
		}
		if match, err := path.Match(name, host); name == host || err == nil && match {
			return name, true
		}
	}
	return "", false
}

// splitEntry splits an entry of AllowHosts. A bare IPv6 address has no port.
func splitEntry(s string) (host, port string) {
	if _, err := netip.ParseAddr(s); err == nil {
		return s, ""
	}
	if h, p, err := net.SplitHostPort(s); err == nil {
		return h, p
	}
	return strings.Trim(s, "[]"), ""
}

// guardedDial returns a function that dials allowed addresses after name resolution.
func guardedDial(g GuardSettings) func(context.Context, string, string) (net.Conn, error) {
	return func(ctx context.Context, network, addr string) (net.Conn, error) {
		host, port, err := net.SplitHostPort(addr)
		if err != nil {
			return nil, err
		}
		entry, ok := g.allows(host, port)
		if !ok {
			return nil, blocked("host %s is not allowed", host)
		}
		d := net.Dialer{Timeout: connectTimeout, Control: func(_, dialled string, _ syscall.RawConn) error {
			at, err := netip.ParseAddrPort(dialled)
			if err != nil {
				return blocked("%s is not an address", dialled)
			}
			if g.AllowPrivate || public(at.Addr()) || named(entry, at.Addr()) || within(g.AllowNets, at.Addr()) {
				return nil
			}
			return blocked("%s is at %s, which is not a public address", host, at.Addr())
		}}
		return d.DialContext(ctx, network, addr)
	}
}

// named reports whether an allow-list entry is this address.
func named(entry string, a netip.Addr) bool {
	a = a.Unmap()
	if entry == "localhost" {
		return a.IsLoopback()
	}
	want, err := netip.ParseAddr(entry)
	return err == nil && want.Unmap() == a
}

// within reports whether an address is in one of the networks.
func within(nets []netip.Prefix, a netip.Addr) bool {
	return slices.ContainsFunc(nets, func(p netip.Prefix) bool { return p.Contains(a.Unmap()) })
}

// guardedRedirect limits the redirects, and removes the request's headers on a redirect to another host.
func guardedRedirect(most int) func(*http.Request, []*http.Request) error {
	return func(req *http.Request, via []*http.Request) error {
		if len(via) > most {
			return &Error{
				Kind: model.BadRequest, Final: true, Err: ErrRedirect,
				Message: fmt.Sprintf("redirected more than %d times, last to %s", most, req.URL.Redacted()),
			}
		}
		if !sameOrigin(req.URL, via[0].URL) {
			for name := range req.Header {
				switch name {
				case "Accept", "Accept-Language", "User-Agent":
				default:
					req.Header.Del(name)
				}
			}
		}
		return nil
	}
}

func blocked(format string, args ...any) *Error {
	return &Error{Kind: model.BadRequest, Final: true, Err: ErrBlocked, Message: fmt.Sprintf(format, args...)}
}

// reserved lists the ranges outside of the public internet that netip does not classify. Addresses that embed another
// address (mapped, NAT64, 6to4, Teredo) are rejected completely, because they would bypass this table.
var reserved = []netip.Prefix{
	netip.MustParsePrefix("0.0.0.0/8"),       // this network
	netip.MustParsePrefix("100.64.0.0/10"),   // carrier NAT
	netip.MustParsePrefix("192.0.0.0/24"),    // protocol assignments
	netip.MustParsePrefix("192.0.2.0/24"),    // documentation
	netip.MustParsePrefix("192.88.99.0/24"),  // 6to4 relays
	netip.MustParsePrefix("198.18.0.0/15"),   // benchmarks
	netip.MustParsePrefix("198.51.100.0/24"), // documentation
	netip.MustParsePrefix("203.0.113.0/24"),  // documentation
	netip.MustParsePrefix("240.0.0.0/4"),     // future use, broadcast
	netip.MustParsePrefix("::/96"),           // unspecified, loopback, IPv4-compatible
	netip.MustParsePrefix("::ffff:0:0:0/96"), // IPv4-translated
	netip.MustParsePrefix("64:ff9b::/96"),    // NAT64
	netip.MustParsePrefix("64:ff9b:1::/48"),  // NAT64, local
	netip.MustParsePrefix("100::/64"),        // discard
	netip.MustParsePrefix("2001::/23"),       // protocol assignments, Teredo
	netip.MustParsePrefix("2001:db8::/32"),   // documentation
	netip.MustParsePrefix("2002::/16"),       // 6to4
	netip.MustParsePrefix("3fff::/20"),       // documentation
	netip.MustParsePrefix("5f00::/16"),       // segment routing
	netip.MustParsePrefix("fec0::/10"),       // site-local
}

// public reports whether an address is on the public internet. A mapped IPv4 address counts as the IPv4 address.
func public(a netip.Addr) bool {
	a = a.Unmap().WithZone("")
	if !a.IsValid() || !a.IsGlobalUnicast() || a.IsPrivate() {
		return false
	}
	for _, p := range reserved {
		if p.Contains(a) {
			return false
		}
	}
	return true
}
