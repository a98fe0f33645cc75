package mcp

import (
	"fmt"
	"net/http"
	"time"

	"github.com/pexctl/pex/internal/httpclient"
)

const (
	maxDiscovery  = 1 << 20 // bytes of a provider's response
	discoveryTime = 30 * time.Second
)

// newDiscoveryClient returns the client for finding a server's provider and talking to
// it. The server names the URLs, so only https at public addresses and the server's own
// host are allowed. With ownHostOnly, other hosts receive only GET requests.
func newDiscoveryClient(host string, private, ownHostOnly bool, agent string) *http.Client {
	own := httpclient.GuardSettings{AllowHosts: []string{host}, AllowPrivate: private, MaxBody: maxDiscovery, MaxRedirects: -1, UserAgent: agent}
	public := httpclient.GuardSettings{MaxBody: maxDiscovery, MaxRedirects: -1, UserAgent: agent}
	return &http.Client{
		Transport: &hostRouter{host: host, ownHostOnly: ownHostOnly, own: httpclient.NewGuarded(own), public: httpclient.NewGuarded(public)},
		CheckRedirect: func(*http.Request, []*http.Request) error {
			return http.ErrUseLastResponse // do not follow redirects of token endpoints
		},
		Timeout: discoveryTime,
	}
}

// hostRouter sends each request through the client allowed for its host.
type hostRouter struct {
	host        string
	ownHostOnly bool
	own, public *http.Client
}

// RoundTrip implements http.RoundTripper.
func (g *hostRouter) RoundTrip(req *http.Request) (*http.Response, error) {
	switch {
	case req.URL.Hostname() == g.host:
		return g.own.Transport.RoundTrip(req)
	case req.URL.Scheme != "https":
		return nil, fmt.Errorf("sign-in URL %s is blocked: it is neither https nor at the server's own host", req.URL.Redacted())
	case g.ownHostOnly && req.Method != http.MethodGet:
		return nil, fmt.Errorf("the client secret is not sent to %s, which only the server names; set auth.issuer to allow it", req.URL.Host)
	}
	return g.public.Transport.RoundTrip(req)
}
