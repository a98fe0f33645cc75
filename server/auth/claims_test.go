package auth_test

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/pexctl/pex/server/auth"
)

// verifier accepts tokens that start with { as their own claims.
type verifier struct{ err error }

func (v verifier) Verify(_ context.Context, token string) (map[string]any, error) {
	var claims map[string]any
	if json.Unmarshal([]byte(token), &claims) != nil {
		return nil, errors.New("bad signature")
	}
	return claims, v.err
}

const issuer = "https://id.example"

func oidcOptions(err error) auth.Options {
	return auth.Options{
		OIDC: &auth.OIDC{
			Verifier: verifier{err}, Issuer: issuer, Subject: "sub", Tenant: "org.name", Roles: "https://pex.example/access.roles",
			Known: []string{"view", "run", "approve", "admin", "finance"},
		},
		DefaultTenant: "shared", Tenants: []string{"shared", "acme"},
	}
}

func TestClaims(t *testing.T) {
	for name, tt := range map[string]struct {
		claims string
		status int
		want   string // subject, tenant and roles
	}{
		"all":               {`{"sub":"ann","org":{"name":"acme"},"https://pex.example/access":{"roles":["run","finance","staff",5,"run"]}}`, 200, "ann acme run,finance"},
		"roles as text":     {`{"sub":"ann","org":{"name":"shared"},"https://pex.example/access.roles":"approve  staff view"}`, 200, "ann shared approve,view"},
		"no roles":          {`{"sub":"ann","org":{"name":"acme"}}`, 200, "ann acme "},
		"roles as a number": {`{"sub":"ann","org":{"name":"acme"},"https://pex.example/access":{"roles":1}}`, 200, "ann acme "},
		"dotted tenant":     {`{"sub":"ann","org.name":"acme","org":{"name":"shared"}}`, 200, "ann acme "},
		"unknown tenant":    {`{"sub":"ann","org":{"name":"evil"}}`, 404, ""},
		"path as a tenant":  {`{"sub":"ann","org":{"name":"../acme"}}`, 404, ""},
		"no tenant":         {`{"sub":"ann"}`, 404, ""},
		"empty tenant":      {`{"sub":"ann","org":{"name":""}}`, 404, ""},
		"tenant as a list":  {`{"sub":"ann","org":{"name":["acme"]}}`, 404, ""},
		"no subject":        {`{"org":{"name":"acme"}}`, 401, ""},
		"empty subject":     {`{"sub":"","org":{"name":"acme"}}`, 401, ""},
		"subject as number": {`{"sub":5,"org":{"name":"acme"}}`, 401, ""},
		"control character": {`{"sub":"ann\nbob","org":{"name":"acme"}}`, 401, ""},
		"bidi control":      {`{"sub":"ann\u202e","org":{"name":"acme"}}`, 401, ""},
		"long subject":      {`{"sub":"` + strings.Repeat("a", 257) + `","org":{"name":"acme"}}`, 401, ""},
	} {
		w, id := identify(t, oidcOptions(nil), tt.claims)
		got := ""
		if w == 200 {
			got = id.Subject + " " + id.Tenant + " " + strings.Join(id.Roles, ",")
			if id.Issuer != issuer {
				t.Errorf("%s: issuer %s", name, id.Issuer)
			}
		}
		if w != tt.status || got != tt.want {
			t.Errorf("%s: %d %s", name, w, got)
		}
	}
}

// identify returns the status of a request with a token, and its identity.
func identify(t *testing.T, o auth.Options, token string) (status int, id auth.Identity) {
	t.Helper()
	w := middleware(t, o, request("GET", "/v1/runs", "Authorization", "Bearer "+token), &id)
	return w.Code, id
}

func TestUnverifiedEmail(t *testing.T) {
	o := oidcOptions(nil)
	o.OIDC.Subject, o.OIDC.Tenant = "email", ""
	for claims, want := range map[string]int{
		`{"email":"ann@example.com"}`:                         200,
		`{"email":"ann@example.com","email_verified":true}`:   200,
		`{"email":"ann@example.com","email_verified":"true"}`: 200,
		`{"email":"ann@example.com","email_verified":false}`:  401,
		`{"email":"ann@example.com","email_verified":null}`:   401,
	} {
		if got, id := identify(t, o, claims); got != want || want == 200 && id.Tenant != "shared" {
			t.Errorf("%s: %d %+v", claims, got, id)
		}
	}
}

// Tokens of the file and of the issuer work side by side, and rejections reveal nothing.
func TestTokensBesideOIDC(t *testing.T) {
	secret, digest := auth.NewToken()
	tokens, err := auth.NewTokens([]auth.Token{{Name: "ci", SHA256: digest, Tenant: "acme"}, {Name: "old", SHA256: sum("old")}})
	if err != nil {
		t.Fatal(err)
	}
	const jwt = `{"sub":"ann","org":{"name":"acme"}}`
	var log strings.Builder
	o := oidcOptions(nil)
	o.Tokens, o.Log = tokens, slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	for token, want := range map[string]string{secret: "ci tokens", "old": "old tokens", jwt: "ann " + issuer} {
		if status, id := identify(t, o, token); status != 200 || id.Subject+" "+id.Issuer != want {
			t.Errorf("%s: %d %+v", token, status, id)
		}
	}
	var bodies []string
	for _, token := range []string{"", "pex_unknown", "secret-value", `{"sub":5}`} {
		w, _ := respond(t, o, request("GET", "/v1/runs", "Authorization", "Bearer "+token))
		bodies = append(bodies, w.Body.String()+w.Header().Get("WWW-Authenticate"))
	}
	if bodies = slices.Compact(bodies); len(bodies) != 1 || !strings.Contains(bodies[0], `"unauthorized"`) {
		t.Error(bodies)
	}
	if s := log.String(); strings.Count(s, "token rejected") != 2 || !strings.Contains(s, "bad signature") || strings.Contains(s, "secret-value") {
		t.Error(s)
	}

	o.OIDC.Verifier = verifier{&auth.UnavailableError{RetryAfter: 5 * time.Second, Err: errors.New("refused")}}
	w, _ := respond(t, o, request("GET", "/v1/runs", "Authorization", "Bearer "+jwt))
	if w.Code != 503 || w.Header().Get("Retry-After") != "5" || !strings.Contains(w.Body.String(), `"unavailable"`) || strings.Contains(w.Body.String(), "refused") {
		t.Error(w.Code, w.Header(), w.Body)
	}
	if status, _ := identify(t, o, secret); status != 200 {
		t.Errorf("token of the file without the issuer: %d", status)
	}
}

// Any claims and any names of claims: no panic, and no identity with an unknown role or
// tenant.
func FuzzClaims(f *testing.F) {
	f.Add(`{"sub":"ann","a":{"b.c":["run"]},"t":"acme"}`, "sub", "t", "a.b.c")
	f.Add(`{"sub":{"":{"":"x"}},"..":1}`, "sub..", "..", ".")
	f.Add(`{"a":{"a":{"a":{}}}}`, "a.a.a.a.a", "", "a.é.a")
	f.Fuzz(func(t *testing.T, claims, subject, tenant, roles string) {
		var v map[string]any
		if json.Unmarshal([]byte(claims), &v) != nil {
			return
		}
		o := oidcOptions(nil)
		o.OIDC.Subject, o.OIDC.Tenant, o.OIDC.Roles = subject, tenant, roles
		o.OIDC.Verifier = given(v)
		status, id := identify(t, o, "token")
		if status != 200 {
			return
		}
		if id.Subject == "" || id.Issuer != issuer || !slices.Contains(o.Tenants, id.Tenant) {
			t.Errorf("%+v", id)
		}
		for _, role := range id.Roles {
			if !slices.Contains(o.OIDC.Known, role) {
				t.Errorf("role %s", role)
			}
		}
	})
}

// given accepts every token, with the same claims.
type given map[string]any

func (g given) Verify(context.Context, string) (map[string]any, error) { return g, nil }
