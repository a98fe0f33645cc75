package mcp_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"

	"github.com/pexctl/pex/engine/component"
	"github.com/pexctl/pex/engine/tool"
	"github.com/pexctl/pex/providers/mcp"
)

// memoryVault stores tokens in memory.
type memoryVault struct {
	mu     sync.Mutex
	tokens map[string][]byte
}

func (v *memoryVault) Load(name string) ([]byte, error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.tokens[name], nil
}

func (v *memoryVault) Save(name string, secret []byte) error {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.tokens == nil {
		v.tokens = map[string][]byte{}
	}
	v.tokens[name] = secret
	return nil
}

// browserUser visits every sign-in URL and counts the visits.
type browserUser struct {
	mu    sync.Mutex
	times int
}

func (p *browserUser) browse(ctx context.Context, address string) error {
	p.mu.Lock()
	p.times++
	p.mu.Unlock()
	return visit(ctx, address)
}

func visit(ctx context.Context, address string) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return err
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	_, err = io.Copy(io.Discard, resp.Body)
	return err
}

// guardedTools returns a toolset for the site.
func guardedTools(t *testing.T, s *guardedSite, a mcp.Auth, settings tool.Settings) tool.Toolset {
	t.Helper()
	c := mcp.MCP.Config().(*mcp.Config)
	a.Type = "oauth"
	c.URL, c.Auth = component.Template{Text: s.URL + "/mcp"}, &a
	settings.Name, settings.Dir, settings.Root = "srv", t.TempDir(), "/"
	if settings.Env == nil {
		settings.Env = func(string) string { return "" }
	}
	one, err := mcp.MCP.Build(c, settings)
	if err != nil {
		t.Fatal(err)
	}
	set := one.(tool.Toolset)
	t.Cleanup(func() {
		if err := set.Close(); err != nil {
			t.Error(err)
		}
	})
	return set
}

func guardedCall() *tool.Call {
	return &tool.Call{Args: json.RawMessage("{}"), Key: "k", RunID: "r", Path: "p", Progress: func(string) {}}
}

// ask lists the tools and calls the only one.
func ask(t *testing.T, set tool.Toolset) (string, error) {
	t.Helper()
	l, err := set.List(t.Context(), guardedCall())
	if err != nil {
		return "", err
	}
	out, err := set.Bind(l.Tools[0]).Call(t.Context(), guardedCall())
	if err != nil {
		return "", err
	}
	return out.Text, nil
}

func TestTokenIsStoredAfterSignIn(t *testing.T) {
	s, p, v := newGuardedSite(t), &browserUser{}, &memoryVault{}
	for range 2 { // the second round is another process with the same vault
		text, err := ask(t, guardedTools(t, s, mcp.Auth{}, tool.Settings{Browse: p.browse, Tokens: v}))
		if err != nil || text != "ada" {
			t.Fatalf("%q, %v", text, err)
		}
	}
	if p.times != 1 {
		t.Errorf("signed in %d times, want once", p.times)
	}
	for _, b := range s.bearers {
		if b != "" {
			t.Errorf("the provider received %q, a token of the tool server", b)
		}
	}
}

func TestExpiredTokenIsRefreshed(t *testing.T) {
	s, p, v := newGuardedSite(t), &browserUser{}, &memoryVault{}
	s.life = 1 // expires immediately
	for range 2 {
		if _, err := ask(t, guardedTools(t, s, mcp.Auth{}, tool.Settings{Browse: p.browse, Tokens: v})); err != nil {
			t.Fatal(err)
		}
	}
	if p.times != 1 || s.refreshed == 0 {
		t.Errorf("signed in %d times and refreshed %d times, want 1 and at least 1", p.times, s.refreshed)
	}
}

func TestConcurrentCallsSignInOnce(t *testing.T) {
	s, p := newGuardedSite(t), &browserUser{}
	set := guardedTools(t, s, mcp.Auth{}, tool.Settings{Browse: p.browse})
	l, err := set.List(t.Context(), guardedCall())
	if err != nil {
		t.Fatal(err)
	}
	s.revoke()
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			if _, err := set.Bind(l.Tools[0]).Call(t.Context(), guardedCall()); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if p.times != 2 {
		t.Errorf("signed in %d times, want once at first and once for all calls", p.times)
	}
}

func TestFailedSignInIsExplained(t *testing.T) {
	canary := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		t.Errorf("unexpected request for %s", r.URL)
		http.NotFound(w, r)
	}))
	defer canary.Close()
	otherHost := strings.Replace(canary.URL, "127.0.0.1", "localhost", 1) // not the site's host
	p := &browserUser{}
	secret := func(name string) string { return map[string]string{"SECRET": "client-secret-1"}[name] }
	tests := []struct {
		name     string
		meta     map[string]string
		deny     bool
		auth     mcp.Auth
		settings tool.Settings
		want     string
	}{
		{name: "no human is available", want: "run pexctl tools ls SPEC in a terminal to sign in"},
		{name: "the provider refuses", deny: true, settings: tool.Settings{Browse: p.browse}, want: "access_denied not you"},
		{
			name: "the provider is another host without https", meta: map[string]string{"authorization_server": otherHost},
			settings: tool.Settings{Browse: p.browse}, want: "neither https nor at the server's own host",
		},
		{
			name: "tokens come from another host without https", meta: map[string]string{"token_endpoint": otherHost + "/token"},
			settings: tool.Settings{Browse: p.browse}, want: "neither https nor at the server's own host",
		},
		{
			name: "the sign-in page is at another host without https", meta: map[string]string{"authorization_endpoint": otherHost + "/authorize"},
			settings: tool.Settings{Browse: p.browse}, want: "neither https nor at its own host",
		},
		{
			name: "the sign-in page is a script", meta: map[string]string{"authorization_endpoint": "javascript:alert(1)"},
			settings: tool.Settings{Browse: p.browse}, want: "disallowed scheme",
		},
		{
			name: "the client secret would go to another host", meta: map[string]string{"token_endpoint": "https://203.0.113.7/token"},
			auth:     mcp.Auth{ClientID: "known", ClientSecretEnv: "SECRET"},
			settings: tool.Settings{Browse: p.browse, Env: secret}, want: "set auth.issuer to allow it",
		},
		{
			name: "the client is registered with another provider",
			auth: mcp.Auth{ClientID: "known", Issuer: "https://login.example.org"}, settings: tool.Settings{Browse: p.browse},
			want: "does not match",
		},
		{
			name:     "the browser cannot be opened",
			settings: tool.Settings{Browse: func(context.Context, string) error { return errors.New("no screen") }}, want: "no screen",
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			s := newGuardedSite(t)
			s.meta, s.deny = test.meta, test.deny
			_, err := ask(t, guardedTools(t, s, test.auth, test.settings))
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Fatalf("error %v, want one with %q", err, test.want)
			}
			for _, word := range []string{"client-secret-1", "the-code", "code_verifier", "code_challenge", "required headers"} {
				if strings.Contains(err.Error(), word) {
					t.Errorf("the error contains %s: %v", word, err)
				}
			}
		})
	}
}

func TestForgedCallbacksAreIgnored(t *testing.T) {
	s := newGuardedSite(t)
	browse := func(ctx context.Context, address string) error {
		to, err := url.Parse(address)
		if err != nil {
			return err
		}
		for _, path := range []string{"?state=guessed&code=mine", "?error=access_denied", ""} {
			resp, err := http.Get(to.Query().Get("redirect_uri") + path)
			if err != nil {
				return err
			}
			resp.Body.Close()
			if resp.StatusCode != http.StatusNotFound {
				t.Errorf("%q was answered %s", path, resp.Status)
			}
		}
		return visit(ctx, address)
	}
	if text, err := ask(t, guardedTools(t, s, mcp.Auth{}, tool.Settings{Browse: browse})); err != nil || text != "ada" {
		t.Errorf("%q, %v", text, err)
	}
}

func TestAuthSettingsAreChecked(t *testing.T) {
	tests := []struct {
		name   string
		auth   mcp.Auth
		header string
		want   string
	}{
		{name: "fine", auth: mcp.Auth{ClientID: "x", ClientSecretEnv: "S", Issuer: "https://login.example.org"}},
		{name: "auth and an Authorization header", header: "authorization", want: "/auth"},
		{name: "a secret without a client", auth: mcp.Auth{ClientSecretEnv: "S"}, want: "/auth/client_secret_env"},
		{name: "an issuer without a client", auth: mcp.Auth{Issuer: "https://login.example.org"}, want: "/auth/issuer"},
		{name: "an issuer that is not a URL", auth: mcp.Auth{ClientID: "x", Issuer: "example"}, want: "/auth/issuer"},
		{name: "metadata without https", auth: mcp.Auth{ClientMetadata: "http://example.org/c.json"}, want: "/auth/client_metadata_url"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			c := mcp.MCP.Config().(*mcp.Config)
			c.URL, c.Auth = component.Template{Text: "https://example.org/mcp"}, &test.auth
			if test.header != "" {
				c.Headers = map[string]component.Template{test.header: {Text: "Bearer x"}}
			}
			var at []string
			for _, f := range c.Check(tool.Settings{}) {
				at = append(at, f.At)
			}
			if got := strings.Join(at, " "); got != test.want {
				t.Errorf("faults at %q, want %q", got, test.want)
			}
		})
	}
}
