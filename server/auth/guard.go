package auth

import (
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/pexctl/pex/server/problem"
)

// Options configure a Guard.
type Options struct {
	Tokens        *Tokens  // nil = none; without OIDC too, there is no authentication
	OIDC          *OIDC    // nil = none
	DefaultTenant string   // of tokens without a tenant, and of anonymous clients
	Tenants       []string // the other tenants
	TenantHeader  string   // header with which an admin of the default tenant chooses one; "" = none
	Hosts         []string // accepted host names without authentication, beside those of loopback addresses
	AnyHost       bool     // accept all host names without authentication
	Origins       []string // origins of web pages that may call the server, such as https://chat.example.com
	// Public reports whether a request needs no identity, such as for the page to sign in; nil = none.
	Public func(*http.Request) bool
	// Metadata returns the address of the metadata (RFC 9728) from which the client of a request
	// learns the issuer; "" = there is none. It may be nil.
	Metadata func(*http.Request) string
	// Page reports whether a request is for a page, to which links of other sites may lead; nil = none.
	Page func(*http.Request) bool
	Log  *slog.Logger // why tokens are rejected, at level debug; nil = no log
}

// credentials are what a Guard accepts.
type credentials struct {
	tokens *Tokens
	oidc   *OIDC
}

// Guard authenticates requests. It is safe for concurrent use.
type Guard struct {
	o         Options
	accepted  atomic.Pointer[credentials] // nil without authentication
	anonymous Identity
	hosts     map[string]bool
	origins   map[string]bool
	crossSite *http.CrossOriginProtection
}

// New returns a Guard. The error names an invalid origin.
func New(o Options) (*Guard, error) {
	g := &Guard{
		o: o, hosts: map[string]bool{}, origins: map[string]bool{}, crossSite: http.NewCrossOriginProtection(),
		anonymous: Identity{Subject: Anonymous, Tenant: o.DefaultTenant, Roles: []string{View, Run, Approve, Admin}},
	}
	if g.o.Log == nil {
		g.o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Tokens != nil || o.OIDC != nil {
		g.accepted.Store(&credentials{o.Tokens, o.OIDC})
	}
	for _, host := range o.Hosts {
		g.hosts[strings.ToLower(host)] = true
	}
	for _, origin := range o.Origins {
		if err := http.NewCrossOriginProtection().AddTrustedOrigin(origin); err != nil || strings.Contains(origin, "*") {
			return nil, fmt.Errorf("invalid origin %q: use a scheme and a host, such as https://chat.example.com", origin)
		}
		g.origins[origin] = true
	}
	return g, nil
}

// SetCredentials replaces the tokens and the issuer from the next request on. It neither
// enables nor disables authentication.
func (g *Guard) SetCredentials(t *Tokens, o *OIDC) {
	if (t != nil || o != nil) && g.accepted.Load() != nil {
		g.accepted.Store(&credentials{t, o})
	}
}

// Middleware calls next for requests of authenticated clients, with the Identity in their
// context. It responds to all others, and to preflight requests of web pages.
func (g *Guard) Middleware(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if isPreflight := g.setCORS(w, r); isPreflight {
			return
		}
		if g.o.Public != nil && g.o.Public(r) {
			next.ServeHTTP(w, r)
			return
		}
		id, p := g.identify(r)
		if p == nil {
			p = g.chooseTenant(&id, r)
		}
		if p != nil {
			if p.Code == problem.Unauthorized {
				w.Header().Set("WWW-Authenticate", g.challenge(r))
			}
			problem.Write(w, r, p)
			return
		}
		next.ServeHTTP(w, r.WithContext(NewContext(r.Context(), id)))
	})
}

// Issuer returns the URL of the issuer whose tokens are accepted; "" = none.
func (g *Guard) Issuer() string {
	if accepted := g.accepted.Load(); accepted != nil && accepted.oidc != nil {
		return accepted.oidc.Issuer
	}
	return ""
}

// challenge says how the client of a request can authenticate.
func (g *Guard) challenge(r *http.Request) string {
	if g.o.Metadata != nil && g.Issuer() != "" {
		if url := g.o.Metadata(r); url != "" {
			return fmt.Sprintf("Bearer resource_metadata=%q", url)
		}
	}
	return "Bearer"
}

// identify returns the client of a request.
func (g *Guard) identify(r *http.Request) (Identity, *problem.Problem) {
	accepted := g.accepted.Load()
	if accepted == nil {
		return g.anonymous, g.rejectForeign(r)
	}
	token := g.token(r)
	id, ok := accepted.tokens.Identify(token) // also without a token, so that it takes the same time
	if !ok {
		if accepted.oidc == nil || token == "" || strings.HasPrefix(token, secretPrefix) {
			return id, invalidToken()
		}
		var p *problem.Problem
		if id, p = g.identifyJWT(r, accepted.oidc, token); p != nil {
			return id, p
		}
	}
	if id.Tenant == "" {
		id.Tenant = g.o.DefaultTenant
	}
	return id, nil
}

// invalidToken is the response to every request without a valid token, so that it does not
// reveal what is wrong.
func invalidToken() *problem.Problem {
	return problem.New(problem.Unauthorized, "send a valid token: Authorization: Bearer TOKEN")
}

// identifyJWT returns the client with a token of the issuer.
func (g *Guard) identifyJWT(r *http.Request, o *OIDC, token string) (Identity, *problem.Problem) {
	claims, err := o.Verifier.Verify(r.Context(), token)
	if unavailable, ok := errors.AsType[*UnavailableError](err); ok {
		g.o.Log.WarnContext(r.Context(), "tokens cannot be verified", "issuer", o.Issuer, "error", unavailable.Err)
		return Identity{}, problem.New(problem.Unavailable, "the issuer of the token cannot be reached; try again later").Retry(unavailable.RetryAfter)
	}
	var id Identity
	if err == nil {
		id, err = o.identify(claims)
	}
	if err != nil {
		g.o.Log.DebugContext(r.Context(), "token rejected", "issuer", o.Issuer, "reason", err)
		return Identity{}, invalidToken()
	}
	if o.Tenant != "" && !g.knowsTenant(id.Tenant) {
		g.o.Log.DebugContext(r.Context(), "unknown tenant", "issuer", o.Issuer, "subject", id.Subject, "tenant", id.Tenant)
		return Identity{}, problem.New(problem.NotFound, "no such tenant")
	}
	return id, nil
}

func (g *Guard) knowsTenant(name string) bool {
	return name != "" && (name == g.o.DefaultTenant || slices.Contains(g.o.Tenants, name))
}

// Cookie is the name of the cookie with the token of a browser that signed in. It must be
// HttpOnly, and SameSite=Lax or Strict.
const Cookie = "pex_token"

// token returns the token of a request, or "". That of the cookie counts only for requests of
// our own pages: a browser also sends it with those that other pages cause, accepted origins too.
func (g *Guard) token(r *http.Request) string {
	if len(r.Header.Values("Authorization")) > 0 {
		return bearer(r)
	}
	cookie, err := r.Cookie(Cookie)
	if err != nil || g.isOfOtherPage(r) {
		return ""
	}
	return cookie.Value
}

// Authenticates reports whether clients need a token.
func (g *Guard) Authenticates() bool { return g.accepted.Load() != nil }

// bearer returns the token of a request, or "" if it has none or several.
func bearer(r *http.Request) string {
	values := r.Header.Values("Authorization")
	if len(values) != 1 {
		return ""
	}
	scheme, token, _ := strings.Cut(values[0], " ")
	if !strings.EqualFold(scheme, "Bearer") {
		return ""
	}
	return strings.TrimSpace(token)
}

// chooseTenant applies the tenant header. Only an admin of the default tenant may choose
// another tenant; others cannot distinguish a tenant that exists from one that does not.
func (g *Guard) chooseTenant(id *Identity, r *http.Request) *problem.Problem {
	if g.o.TenantHeader == "" {
		return nil
	}
	tenant := r.Header.Get(g.o.TenantHeader)
	if tenant == "" || tenant == id.Tenant {
		return nil
	}
	if id.Tenant != g.o.DefaultTenant || !g.knowsTenant(tenant) || !slices.Contains(id.Roles, Admin) {
		return problem.New(problem.NotFound, "unknown tenant in header %s", g.o.TenantHeader)
	}
	id.Tenant = tenant
	return nil
}
