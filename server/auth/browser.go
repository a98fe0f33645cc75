package auth

import (
	"net"
	"net/http"
	"net/netip"
	"strings"

	"github.com/pexctl/pex/engine/text"
	"github.com/pexctl/pex/server/problem"
)

// The methods and headers that web pages of other origins may use.
const (
	corsMethods = "GET, POST, DELETE"
	corsHeaders = "Authorization, Content-Type, Idempotency-Key, Last-Event-ID, Mcp-Method, Mcp-Name, Mcp-Protocol-Version, Mcp-Session-Id, Prefer, X-Conversation-Id, X-Request-Id"
	corsExposed = "Location, Mcp-Session-Id, Retry-After, WWW-Authenticate, X-Pex-Ignored, X-Request-Id"
)

// libraryHeader matches headers with which the client libraries of OpenAI describe themselves.
var libraryHeader = text.Regexp(`^(?i)(x-stainless-[a-z-]{1,40}|openai-organization|openai-project)$`)

// rejectForeign returns why an anonymous request is rejected: a web page of another site
// may have caused it. A page can make its host name resolve to a loopback address (DNS
// rebinding), which the Host header shows, and can send requests without reading the
// responses, but may learn something from their time and status.
func (g *Guard) rejectForeign(r *http.Request) *problem.Problem {
	if !g.o.AnyHost && !g.isLocalHost(r.Host) {
		return problem.New(problem.Forbidden, "host %.100q is not accepted without authentication: use localhost, 127.0.0.1 or [::1]", r.Host)
	}
	if g.isForeign(r) {
		return problem.New(problem.Forbidden, "requests from web pages of other origins are not accepted: add the origin to cors.origins")
	}
	return nil
}

// isForeign reports whether a web page of an origin that is not accepted caused a request.
func (g *Guard) isForeign(r *http.Request) bool {
	return !g.origins[r.Header.Get("Origin")] && g.isOfOtherPage(r)
}

// isOfOtherPage reports whether a web page of another origin caused a request.
func (g *Guard) isOfOtherPage(r *http.Request) bool {
	switch r.Header.Get("Sec-Fetch-Site") {
	case "cross-site", "same-site": // GET and HEAD too
		return !g.isLinkToPage(r)
	default:
		return g.crossSite.Check(r) != nil
	}
}

// isLinkToPage reports whether a user followed a link to a page, which has no effects and which
// the other site cannot read or frame.
func (g *Guard) isLinkToPage(r *http.Request) bool {
	return g.o.Page != nil && g.o.Page(r) && r.Method == http.MethodGet &&
		r.Header.Get("Sec-Fetch-Mode") == "navigate" && r.Header.Get("Sec-Fetch-Dest") == "document"
}

// isLocalHost reports whether a Host header names a loopback address or an accepted host.
func (g *Guard) isLocalHost(host string) bool {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	host = strings.ToLower(host)
	if host == "localhost" || g.hosts[host] {
		return true
	}
	if strings.HasPrefix(host, "[") && strings.HasSuffix(host, "]") {
		host = host[1 : len(host)-1]
	}
	ip, err := netip.ParseAddr(host)
	return err == nil && ip.Zone() == "" && ip.Unmap().IsLoopback()
}

// setCORS permits accepted origins, and no others, to read the response. It responds to
// preflight requests and returns true for them.
func (g *Guard) setCORS(w http.ResponseWriter, r *http.Request) (isPreflight bool) {
	if len(g.origins) > 0 {
		w.Header().Add("Vary", "Origin")
	}
	origin := r.Header.Get("Origin")
	accepted := origin != "" && g.origins[origin]
	h := w.Header()
	h.Set("Cross-Origin-Resource-Policy", "same-origin") // has no effect on requests with CORS
	if accepted {
		h.Set("Access-Control-Allow-Origin", origin)
		h.Set("Access-Control-Expose-Headers", corsExposed)
	}
	if r.Method != http.MethodOptions || origin == "" || r.Header.Get("Access-Control-Request-Method") == "" {
		return false
	}
	if !accepted {
		problem.Write(w, r, problem.New(problem.Forbidden, "origin %.100q is not accepted: add it to cors.origins", origin))
		return true
	}
	headers := []string{corsHeaders}
	if g.o.TenantHeader != "" {
		headers = append(headers, g.o.TenantHeader)
	}
	for name := range strings.SplitSeq(r.Header.Get("Access-Control-Request-Headers"), ",") {
		if name = strings.TrimSpace(name); libraryHeader().MatchString(name) {
			headers = append(headers, name)
		}
	}
	h.Set("Access-Control-Allow-Methods", corsMethods)
	h.Set("Access-Control-Allow-Headers", strings.Join(headers, ", "))
	h.Set("Access-Control-Max-Age", "600")
	w.WriteHeader(http.StatusNoContent)
	return true
}
