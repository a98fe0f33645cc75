package auth_test

import (
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/pexctl/pex/server/auth"
)

func sum(secret string) string {
	s := sha256.Sum256([]byte(secret))
	return hex.EncodeToString(s[:])
}

// respond sends a request through a guard and returns the response and the identity that
// the handler received, as subject@tenant.
func respond(t *testing.T, o auth.Options, r *http.Request) (w *httptest.ResponseRecorder, who string) {
	t.Helper()
	var id auth.Identity
	w = middleware(t, o, r, &id)
	if id.Subject != "" {
		who = id.Subject + "@" + id.Tenant
	}
	return w, who
}

// middleware sends a request through a guard, and stores the identity that the handler
// received.
func middleware(t *testing.T, o auth.Options, r *http.Request, got *auth.Identity) *httptest.ResponseRecorder {
	t.Helper()
	g, err := auth.New(o)
	if err != nil {
		t.Fatal(err)
	}
	w := httptest.NewRecorder()
	g.Middleware(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		id, ok := auth.FromContext(r.Context())
		if !ok {
			t.Error("no identity")
		}
		*got = id
	})).ServeHTTP(w, r)
	return w
}

func request(method, url string, headers ...string) *http.Request {
	r := httptest.NewRequest(method, url, nil)
	for i := 0; i < len(headers); i += 2 {
		r.Header.Add(headers[i], headers[i+1])
	}
	return r
}

func TestCan(t *testing.T) {
	refund := map[string][]string{auth.Run: {"support"}, auth.Approve: {"finance"}}
	for _, tt := range []struct {
		roles string
		agent map[string][]string
		may   string
	}{
		{"", nil, ""},
		{"view", nil, "view"},
		{"run", nil, "view run"},
		{"approve", nil, "view approve"},
		{"run approve", nil, "view run approve"},
		{"admin", nil, "view run approve admin"},
		{"admin", refund, "view run approve admin"},
		{"view", refund, "view"},
		{"run approve", refund, ""}, // the agent permits only its groups
		{"view run approve", refund, "view"},
		{"support", refund, "view run"},
		{"finance", refund, "view approve"},
		{"support", nil, ""},
		{"support", map[string][]string{auth.View: {"staff"}}, ""},
		{"run", map[string][]string{auth.View: {"staff"}}, "view run"},
		{"staff", map[string][]string{auth.View: {"staff"}}, "view"},
		{"run", map[string][]string{auth.Run: {}}, ""},
	} {
		id := auth.Identity{Roles: strings.Fields(tt.roles)}
		var may []string
		for _, action := range []string{auth.View, auth.Run, auth.Approve, auth.Admin} {
			if auth.Can(id, action, tt.agent) {
				may = append(may, action)
			}
		}
		if got := strings.Join(may, " "); got != tt.may {
			t.Errorf("roles %q, agent %v: may %q, want %q", tt.roles, tt.agent, got, tt.may)
		}
	}
	if id, ok := auth.FromContext(t.Context()); ok || auth.Can(id, auth.View, nil) {
		t.Error("a request without an identity may view")
	}
}

func TestNewTokens(t *testing.T) {
	a, b := sum("a"), sum("b")
	for name, tt := range map[string]struct {
		tokens []auth.Token
		want   string
	}{
		"valid":     {[]auth.Token{{Name: "x", SHA256: a}, {Name: "y", SHA256: strings.ToUpper(b)}}, ""},
		"short":     {[]auth.Token{{Name: "x", SHA256: "abcd"}}, `token "x": sha256 must have 64 hexadecimal digits`},
		"not hex":   {[]auth.Token{{Name: "x", SHA256: strings.Repeat("z", 64)}}, `token "x": sha256 must have 64 hexadecimal digits`},
		"same sum":  {[]auth.Token{{Name: "x", SHA256: a}, {Name: "y", SHA256: a}}, `tokens "x" and "y" have the same sha256`},
		"same name": {[]auth.Token{{Name: "x", SHA256: a}, {Name: "x", SHA256: b}}, `token name "x" is empty, reserved or a duplicate`},
		"no name":   {[]auth.Token{{SHA256: a}}, `token name "" is empty, reserved or a duplicate`},
		"anonymous": {[]auth.Token{{Name: "anonymous", SHA256: a}}, `token name "anonymous" is empty, reserved or a duplicate`},
	} {
		_, err := auth.NewTokens(tt.tokens)
		if got := errText(err); got != tt.want {
			t.Errorf("%s: %s", name, got)
		}
	}
}

func errText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

func TestNewTokenIsAccepted(t *testing.T) {
	secret, digest := auth.NewToken()
	other, _ := auth.NewToken()
	if len(secret) != 4+64 || !strings.HasPrefix(secret, "pex_") || secret == other {
		t.Errorf("%s, %s", secret, other)
	}
	tokens, err := auth.NewTokens([]auth.Token{{Name: "x", SHA256: digest, Roles: []string{auth.Run}}})
	if err != nil {
		t.Fatal(err)
	}
	if id, ok := tokens.Identify(secret); !ok || id.Subject != "x" || id.Issuer != "tokens" || !auth.Can(id, auth.Run, nil) {
		t.Errorf("%+v", id)
	}
	for _, wrong := range []string{"", other, digest, secret + "0", strings.ToUpper(secret)} {
		if _, ok := tokens.Identify(wrong); ok {
			t.Errorf("%q is accepted", wrong)
		}
	}
}

func TestBearerTokens(t *testing.T) {
	tokens, err := auth.NewTokens([]auth.Token{
		{Name: "ci", SHA256: sum("s1"), Roles: []string{auth.Run}},
		{Name: "acme", SHA256: sum("s2"), Tenant: "acme", Roles: []string{auth.Run, auth.Approve}},
		{Name: "root", SHA256: sum("s3"), Roles: []string{auth.Admin}},
		{Name: "chief", SHA256: sum("s4"), Tenant: "acme", Roles: []string{auth.Admin}},
	})
	if err != nil {
		t.Fatal(err)
	}
	o := auth.Options{Tokens: tokens, DefaultTenant: "shared", Tenants: []string{"acme", "other"}, TenantHeader: "X-Tenant-Id"}
	for _, tt := range []struct {
		headers []string
		status  int
		who     string
	}{
		{[]string{"Authorization", "Bearer s1"}, 200, "ci@shared"},
		{[]string{"Authorization", "bearer s2"}, 200, "acme@acme"},
		{nil, 401, ""},
		{[]string{"Authorization", "Bearer"}, 401, ""},
		{[]string{"Authorization", "Bearer wrong"}, 401, ""},
		{[]string{"Authorization", "Basic s1"}, 401, ""},
		{[]string{"Authorization", "Bearer s1", "Authorization", "Bearer s2"}, 401, ""},
		{[]string{"Authorization", "Bearer s3", "X-Tenant-Id", "acme"}, 200, "root@acme"},
		{[]string{"Authorization", "Bearer s3", "X-Tenant-Id", "shared"}, 200, "root@shared"},
		{[]string{"Authorization", "Bearer s3", "X-Tenant-Id", "../x"}, 404, ""},
		{[]string{"Authorization", "Bearer s2", "X-Tenant-Id", "acme"}, 200, "acme@acme"},
		{[]string{"Authorization", "Bearer s2", "X-Tenant-Id", "shared"}, 404, ""},
		{[]string{"Authorization", "Bearer s2", "X-Tenant-Id", "none"}, 404, ""},
		{[]string{"Authorization", "Bearer s4", "X-Tenant-Id", "acme"}, 200, "chief@acme"},
		{[]string{"Authorization", "Bearer s4", "X-Tenant-Id", "other"}, 404, ""},
		{[]string{"Authorization", "Bearer s4", "X-Tenant-Id", "shared"}, 404, ""},
		{[]string{"Authorization", "Bearer s1", "Origin", "https://evil.example", "Sec-Fetch-Site", "cross-site"}, 200, "ci@shared"}, // no page has the token
	} {
		w, who := respond(t, o, request("POST", "http://agents.example/v1/runs", tt.headers...))
		if w.Code != tt.status || who != tt.who {
			t.Errorf("%q: %d %s, want %d %s", tt.headers, w.Code, who, tt.status, tt.who)
		}
		if got := w.Header().Get("WWW-Authenticate"); (got == "Bearer") != (tt.status == 401) {
			t.Errorf("%q: WWW-Authenticate: %s", tt.headers, got)
		}
	}
}

// An unknown token and a missing one, an unknown tenant and one of others, must not be
// distinguishable.
func TestRejectionsRevealNothing(t *testing.T) {
	tokens, err := auth.NewTokens([]auth.Token{{Name: "ci", SHA256: sum("s1"), Roles: []string{auth.Run}}})
	if err != nil {
		t.Fatal(err)
	}
	o := auth.Options{Tokens: tokens, Tenants: []string{"acme"}, TenantHeader: "X-Tenant-Id"}
	bodies := func(headers ...[]string) (out []string) {
		for _, h := range headers {
			w, _ := respond(t, o, request("GET", "/v1/runs", h...))
			out = append(out, w.Body.String())
		}
		return out
	}
	for _, same := range [][]string{
		bodies(nil, []string{"Authorization", "Bearer wrong"}, []string{"Authorization", "Basic x"}),
		bodies([]string{"Authorization", "Bearer s1", "X-Tenant-Id", "acme"}, []string{"Authorization", "Bearer s1", "X-Tenant-Id", "none"}),
	} {
		for _, body := range same {
			if body != same[0] || !strings.Contains(body, `"code":`) {
				t.Errorf("%s\n%s", body, same[0])
			}
		}
	}
}

func TestSetCredentialsAppliesToTheNextRequest(t *testing.T) {
	tokens := func(secret string) *auth.Tokens {
		all, err := auth.NewTokens([]auth.Token{{Name: "ci", SHA256: sum(secret)}})
		if err != nil {
			t.Fatal(err)
		}
		return all
	}
	g, err := auth.New(auth.Options{Tokens: tokens("old")})
	if err != nil {
		t.Fatal(err)
	}
	status := func(secret string) int {
		w := httptest.NewRecorder()
		g.Middleware(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {})).ServeHTTP(w, request("GET", "/", "Authorization", "Bearer "+secret))
		return w.Code
	}
	before := status("old")
	g.SetCredentials(tokens("new"), nil)
	g.SetCredentials(nil, nil) // does not disable authentication
	if before != 200 || status("old") != 401 || status("new") != 200 {
		t.Errorf("%d %d %d", before, status("old"), status("new"))
	}
}

func BenchmarkIdentify(b *testing.B) {
	var all []auth.Token
	for range 100 {
		secret, digest := auth.NewToken()
		all = append(all, auth.Token{Name: secret[4:12], SHA256: digest})
	}
	tokens, err := auth.NewTokens(all)
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		tokens.Identify("pex_unknown")
	}
}
