package auth

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/pexctl/pex/server/problem"
)

// Options configure a Guard.
type Options struct {
	Tokens        *Tokens  // nil = no authentication
	DefaultTenant string   // of tokens without a tenant, and of anonymous clients
	Tenants       []string // the other tenants that an admin may choose
	TenantHeader  string   // header with which an admin chooses a tenant; "" = none
	Hosts         []string // accepted host names without authentication, beside those of loopback addresses
	AnyHost       bool     // accept all host names without authentication
	Origins       []string // origins of web pages that may call the server, such as https://chat.example.com
}

// Guard authenticates requests. It is safe for concurrent use.
type Guard struct {
	o         Options
	tokens    atomic.Pointer[Tokens]
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
	g.tokens.Store(o.Tokens)
	for _, host := range o.Hosts {
		g.hosts[strings.ToLower(host)] = true
	}
	for _, origin := range o.Origins {
		if err := g.crossSite.AddTrustedOrigin(origin); err != nil || strings.Contains(origin, "*") {
			return nil, fmt.Errorf("invalid origin %q: use a scheme and a host, such as https://chat.example.com", origin)
		}
		g.origins[origin] = true
	}
	return g, nil
}

// SetTokens replaces the tokens from the next request on. It has no effect on a Guard
// without authentication.
func (g *Guard) SetTokens(t *Tokens) {
	if t != nil && g.tokens.Load() != nil {
		g.tokens.Store(t)
	}
}

// Middleware calls next for requests of authenticated clients, with the Identity in their
// context. It responds to all others, and to preflight requests of web pages.
func (g *Guard) Middleware(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if isPreflight := g.setCORS(w, r); isPreflight {
			return
		}
		id, p := g.identify(r)
		if p == nil {
			p = g.chooseTenant(&id, r)
		}
		if p != nil {
			if p.Code == problem.Unauthorized {
				w.Header().Set("WWW-Authenticate", "Bearer")
			}
			problem.Write(w, p)
			return
		}
		next.ServeHTTP(w, r.WithContext(NewContext(r.Context(), id)))
	})
}

// identify returns the client of a request.
func (g *Guard) identify(r *http.Request) (Identity, *problem.Problem) {
	tokens := g.tokens.Load()
	if tokens == nil {
		return g.anonymous, g.rejectForeign(r)
	}
	id, ok := tokens.Identify(bearer(r)) // also without a token, so that it takes the same time
	if !ok {
		return id, problem.New(problem.Unauthorized, "send a valid token: Authorization: Bearer TOKEN")
	}
	if id.Tenant == "" {
		id.Tenant = g.o.DefaultTenant
	}
	return id, nil
}

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

// chooseTenant applies the tenant header. Only an admin may choose another tenant than
// its own; others cannot distinguish a tenant that exists from one that does not.
func (g *Guard) chooseTenant(id *Identity, r *http.Request) *problem.Problem {
	if g.o.TenantHeader == "" {
		return nil
	}
	tenant := r.Header.Get(g.o.TenantHeader)
	if tenant == "" || tenant == id.Tenant {
		return nil
	}
	known := tenant == g.o.DefaultTenant || slices.Contains(g.o.Tenants, tenant)
	if !known || !slices.Contains(id.Roles, Admin) {
		return problem.New(problem.NotFound, "unknown tenant in header %s", g.o.TenantHeader)
	}
	id.Tenant = tenant
	return nil
}
