package exchange

import (
	"net/http"
	"net/url"
)

// Route sends every request to a server at another address than the one it
// names, so that what is recorded names no machine. Path and query stay.
func Route(server http.RoundTripper, to *url.URL) http.RoundTripper {
	return route{server, to}
}

type route struct {
	server http.RoundTripper
	to     *url.URL
}

// RoundTrip implements http.RoundTripper.
func (r route) RoundTrip(req *http.Request) (*http.Response, error) {
	out := req.Clone(req.Context())
	out.URL.Scheme, out.URL.Host, out.Host = r.to.Scheme, r.to.Host, r.to.Host
	return r.server.RoundTrip(out)
}
