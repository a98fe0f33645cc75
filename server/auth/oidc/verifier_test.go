package oidc_test

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/pexctl/pex/internal/oidctest"
	"github.com/pexctl/pex/server/auth"
	"github.com/pexctl/pex/server/auth/oidc"
)

// clock is a time that tests move.
type clock struct{ ahead atomic.Int64 }

func (c *clock) now() time.Time           { return time.Now().Add(time.Duration(c.ahead.Load())) }
func (c *clock) advance(by time.Duration) { c.ahead.Add(int64(by)) }

func newVerifier(i *oidctest.Issuer) (*oidc.Verifier, *clock) {
	c := &clock{}
	return oidc.New(oidc.Options{Issuer: i.URL, Audience: "pex", Now: c.now, Transport: &http.Transport{DisableKeepAlives: true}}), c
}

// outcome returns valid, invalid or unavailable.
func outcome(t *testing.T, v *oidc.Verifier, token string) string {
	t.Helper()
	claims, err := v.Verify(t.Context(), token)
	unavailable, ok := errors.AsType[*auth.UnavailableError](err)
	switch {
	case ok && unavailable.RetryAfter > 0:
		return "unavailable"
	case err == nil && claims["sub"] == nil:
		t.Error("no claims")
	case err == nil:
		return "valid"
	case token != "" && strings.Contains(err.Error(), token):
		t.Errorf("the error contains the token: %v", err)
	}
	return "invalid"
}

func TestVerify(t *testing.T) {
	rsa, ec, other := oidctest.RSA(t, "r"), oidctest.EC(t, "e"), oidctest.EC(t, "e")
	i := oidctest.New(t, rsa, ec)
	v, _ := newVerifier(i)
	now := time.Now().Unix()
	with := func(more map[string]any) string { return ec.Sign(i.Claims("pex", more)) }
	sign := func(alg string, by func([]byte) []byte) string {
		return oidctest.Token(map[string]any{"alg": alg, "kid": "r"}, i.Claims("pex", nil), by)
	}
	nothing := func([]byte) []byte { return nil }
	valid := with(nil)
	for name, tt := range map[string]struct{ token, want string }{
		"RSA":                     {rsa.Sign(i.Claims("pex", nil)), "valid"},
		"EC":                      {valid, "valid"},
		"one of many audiences":   {with(map[string]any{"aud": []string{"web", "pex"}}), "valid"},
		"another audience":        {with(map[string]any{"aud": "web"}), "invalid"},
		"part of the audience":    {with(map[string]any{"aud": "pex-admin"}), "invalid"},
		"no audience":             {with(map[string]any{"aud": nil}), "invalid"},
		"another issuer":          {with(map[string]any{"iss": "https://evil.example"}), "invalid"},
		"issuer with a slash":     {with(map[string]any{"iss": i.URL + "/"}), "invalid"},
		"no issuer":               {with(map[string]any{"iss": nil}), "invalid"},
		"expired":                 {with(map[string]any{"exp": now - 61}), "invalid"},
		"expired, within skew":    {with(map[string]any{"exp": now - 30}), "valid"},
		"no expiry":               {with(map[string]any{"exp": nil}), "invalid"},
		"expiry as text":          {with(map[string]any{"exp": "tomorrow"}), "invalid"},
		"not yet valid":           {with(map[string]any{"nbf": now + 90}), "invalid"},
		"not yet, within skew":    {with(map[string]any{"nbf": now + 30}), "valid"},
		"start as text":           {with(map[string]any{"nbf": "today"}), "invalid"},
		"alg none":                {sign("none", nothing), "invalid"},
		"alg NONE":                {sign("NONE", nothing), "invalid"},
		"alg missing":             {sign("", nothing), "invalid"},
		"HS256 by the public key": {sign("HS256", oidctest.HMAC(rsa.Modulus())), "invalid"},
		"RS256 without signature": {sign("RS256", nothing), "invalid"},
		"ES256 with an RSA key":   {sign("ES256", func([]byte) []byte { return make([]byte, 64) }), "invalid"},
		"another key of this id":  {other.Sign(i.Claims("pex", nil)), "invalid"},
		"changed claims":          {valid[:strings.Index(valid, ".")] + ".e30" + valid[strings.LastIndex(valid, "."):], "invalid"},
		"no signature":            {valid[:strings.LastIndex(valid, ".")+1], "invalid"},
		"four parts":              {valid + ".x", "invalid"},
		"JSON":                    {`{"payload":"e30","signatures":[{"protected":".."}]}`, "invalid"},
		"empty":                   {"", "invalid"},
		"dots":                    {"..", "invalid"},
		"huge":                    {with(map[string]any{"x": strings.Repeat("x", 64<<10)}), "invalid"},
		"large":                   {with(map[string]any{"x": strings.Repeat("x", 16<<10)}), "valid"},
	} {
		if got := outcome(t, v, tt.token); got != tt.want {
			t.Errorf("%s: %s", name, got)
		}
	}
	if n := i.Discoveries.Load(); n != 1 {
		t.Errorf("%d discoveries", n)
	}
}

// settles checks the outcome of a token once the library has stored the keys that it fetched:
// its goroutine does so after the first caller has them.
func settles(t *testing.T, v *oidc.Verifier, token, want string) {
	t.Helper()
	var got string
	for end := time.Now().Add(10 * time.Second); time.Now().Before(end); runtime.Gosched() {
		if got = outcome(t, v, token); got == want {
			return
		}
	}
	t.Errorf("%s instead of %s", got, want)
}

// The issuer rotates its keys, and clients with unknown keys cannot flood it.
func TestRotatedKeys(t *testing.T) {
	before, after := oidctest.EC(t, "1"), oidctest.EC(t, "2")
	i := oidctest.New(t, before)
	v, c := newVerifier(i)
	token := before.Sign(i.Claims("pex", nil))
	next := after.Sign(i.Claims("pex", nil))
	if got := outcome(t, v, token); got != "valid" {
		t.Error(got)
	}
	for range 20 {
		if got := outcome(t, v, next); got != "invalid" {
			t.Error(got)
		}
	}
	if n := i.Fetches.Load(); n != 1 {
		t.Errorf("%d fetches", n)
	}
	i.SetKeys(after)
	c.advance(11 * time.Second)
	settles(t, v, next, "valid")
	settles(t, v, token, "invalid")
	if n := i.Fetches.Load(); n != 2 {
		t.Errorf("%d fetches", n)
	}
}

// A key that the issuer removed is rejected after an hour, even if no token has a new one.
// Without the issuer, the keys stay in use.
func TestOldKeys(t *testing.T) {
	key := oidctest.EC(t, "1")
	i := oidctest.New(t, key)
	v, c := newVerifier(i)
	token := key.Sign(i.Claims("pex", map[string]any{"exp": time.Now().Add(24 * time.Hour).Unix()}))
	check := func(want string) {
		t.Helper()
		if got := outcome(t, v, token); got != want {
			t.Error(got)
		}
	}
	check("valid")
	i.SetKeys()
	check("valid")
	i.Down.Store(true)
	c.advance(61 * time.Minute)
	check("valid")
	i.Down.Store(false)
	check("valid") // until the next attempt
	c.advance(2 * time.Minute)
	check("invalid")
}

func TestIssuerIsDown(t *testing.T) {
	key := oidctest.EC(t, "1")
	i := oidctest.New(t, key)
	v, c := newVerifier(i)
	token := key.Sign(i.Claims("pex", nil))
	i.Down.Store(true)
	for range 5 {
		if got := outcome(t, v, token); got != "unavailable" {
			t.Error("at the start:", got)
		}
	}
	if got := outcome(t, v, "garbage"); got != "invalid" {
		t.Error(got)
	}
	if n := i.Discoveries.Load(); n != 1 {
		t.Errorf("%d attempts", n)
	}
	i.Down.Store(false)
	c.advance(6 * time.Second)
	if got := outcome(t, v, token); got != "valid" {
		t.Error("up again:", got)
	}
	i.Down.Store(true)
	c.advance(11 * time.Second)
	if got := outcome(t, v, token); got != "valid" {
		t.Error("known key:", got)
	}
	settles(t, v, oidctest.EC(t, "2").Sign(i.Claims("pex", nil)), "unavailable")
}

func TestConcurrentFirstUse(t *testing.T) {
	key := oidctest.RSA(t, "1")
	i := oidctest.New(t, key)
	v, _ := newVerifier(i)
	token := key.Sign(i.Claims("pex", nil))
	var all sync.WaitGroup
	for range 50 {
		all.Go(func() {
			if got := outcome(t, v, token); got != "valid" {
				t.Error(got)
			}
		})
	}
	all.Wait()
	if d, f := i.Discoveries.Load(), i.Fetches.Load(); d != 1 || f != 1 {
		t.Errorf("%d discoveries, %d fetches", d, f)
	}
}

// An issuer that replies nonsense is unavailable: tokens are neither accepted nor rejected.
func TestInvalidIssuers(t *testing.T) {
	key := oidctest.EC(t, "1")
	for name, body := range map[string]string{
		"no JSON":           "<html>",
		"another issuer":    `{"issuer":"https://evil.example","jwks_uri":"https://evil.example/keys"}`,
		"no keys":           `{"issuer":"URL"}`,
		"keys without TLS":  `{"issuer":"URL","jwks_uri":"http://evil.example/keys"}`,
		"keys from a file":  `{"issuer":"URL","jwks_uri":"file:///keys"}`,
		"keys are nonsense": `{"issuer":"URL","jwks_uri":"URL/keys"}`,
		"too large":         `{"issuer":"` + strings.Repeat("x", 2<<20) + `"}`,
	} {
		var url string
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			if r.URL.Path == "/keys" {
				body = `{"keys": 1}`
			}
			_, _ = w.Write([]byte(strings.ReplaceAll(body, "URL", url)))
		}))
		url = s.URL
		i := &oidctest.Issuer{URL: url}
		v, _ := newVerifier(i)
		if got := outcome(t, v, key.Sign(i.Claims("pex", nil))); got != "unavailable" {
			t.Errorf("%s: %s", name, got)
		}
		s.Close()
	}
}
