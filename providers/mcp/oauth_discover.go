package mcp

import (
	"fmt"
	"net/http"
	"time"

	"github.com/pexctl/pex/internal/wire"
)

const (
	maxDiscovery  = 1 << 20 // bytes of a provider's answer
	discoveryTime = 30 * time.Second
)

// discoverer is the client that looks for a server's provider and talks to it.
// The addresses are the server's word: they are asked by https at public
// addresses, or else at the server's own host, which the author named. With
// confined, only the own host is told anything.
func discoverer(host string, private, confined bool, agent string) *http.Client {
	own := wire.GuardSettings{AllowHosts: []string{host}, AllowPrivate: private, MaxBody: maxDiscovery, MaxRedirects: -1, UserAgent: agent}
	public := wire.GuardSettings{MaxBody: maxDiscovery, MaxRedirects: -1, UserAgent: agent}
	return &http.Client{
		Transport: &guide{host: host, confined: confined, own: wire.NewGuarded(own), public: wire.NewGuarded(public)},
		CheckRedirect: func(*http.Request, []*http.Request) error {
			return http.ErrUseLastResponse // a token endpoint that moves is not followed
		},
		Timeout: discoveryTime,
	}
}

// guide sends each request by the client that may make it.
type guide struct {
	host        string
	confined    bool
	own, public *http.Client
}

// RoundTrip implements http.RoundTripper.
func (g *guide) RoundTrip(req *http.Request) (*http.Response, error) {
	switch {
	case req.URL.Hostname() == g.host:
		return g.own.Transport.RoundTrip(req)
	case req.URL.Scheme != "https":
		return nil, fmt.Errorf("%s, which the server names for signing in, is not asked: it is neither https nor the server's own host", req.URL.Redacted())
	case g.confined && req.Method != http.MethodGet:
		return nil, fmt.Errorf("the client's secret is not sent to %s, which only the server names: auth.issuer says that it may be", req.URL.Host)
	}
	return g.public.Transport.RoundTrip(req)
}
