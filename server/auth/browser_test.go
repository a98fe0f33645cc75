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

// A page whose host name resolves to a loopback address sends its own name.
func TestHostsWithoutAuthentication(t *testing.T) {
	for host, accepted := range map[string]bool{
		"localhost": true, "LOCALHOST:8484": true, "127.0.0.1": true, "127.0.0.1:8484": true, "127.9.9.9:1": true,
		"[::1]": true, "[::1]:8484": true, "[::ffff:127.0.0.1]:80": true, "pex.internal": true, "pex.internal:8484": true,
		"": false, "evil.example": false, "evil.example:8484": false, "localhost.evil.example": false, "127.0.0.1.evil.example": false,
		"localhost.": false, "10.0.0.1": false, "0.0.0.0": false, "[::]": false, "[::1%lo]": false, "127.1": false, "2130706433": false,
		"[::1": false, "localhost:80:80": false, "pex.internal.evil.example": false,
	} {
		r := request("GET", "/v1/runs")
		r.Host = host
		w, who := respond(t, auth.Options{Hosts: []string{"Pex.internal"}, DefaultTenant: "shared"}, r)
		if (w.Code == 200) != accepted || accepted && who != "anonymous@shared" {
			t.Errorf("%q: %d %s", host, w.Code, who)
		}
	}
	r := request("GET", "/v1/runs")
	r.Host = "evil.example"
	w, _ := respond(t, auth.Options{}, r)
	if want := `"detail":"host \"evil.example\" is not accepted without authentication: use localhost, 127.0.0.1 or [::1]"`; !strings.Contains(w.Body.String(), want) {
		t.Error(w.Body)
	}
	if w, _ = respond(t, auth.Options{AnyHost: true}, r); w.Code != 200 {
		t.Errorf("AnyHost: %d", w.Code)
	}
}

func TestRequestsOfOtherSites(t *testing.T) {
	const own, chat, evil = "http://localhost:8484", "https://chat.example", "https://evil.example"
	for _, tt := range []struct {
		method  string
		headers []string
		status  int
	}{
		{"POST", nil, 200}, // not a browser
		{"POST", []string{"Sec-Fetch-Site", "same-origin", "Origin", own}, 200},
		{"POST", []string{"Sec-Fetch-Site", "none"}, 200},
		{"POST", []string{"Origin", own}, 200},
		{"POST", []string{"Origin", chat}, 200},
		{"POST", []string{"Sec-Fetch-Site", "cross-site", "Origin", chat}, 200},
		{"POST", []string{"Sec-Fetch-Site", "cross-site", "Origin", evil}, 403},
		{"POST", []string{"Sec-Fetch-Site", "same-site", "Origin", "http://localhost:3000"}, 403},
		{"POST", []string{"Sec-Fetch-Site", "cross-site"}, 403},
		{"POST", []string{"Origin", evil}, 403},
		{"POST", []string{"Origin", "null"}, 403},
		{"POST", []string{"Origin", "http://localhost:3000"}, 403},
		{"DELETE", []string{"Origin", evil}, 403},
		{"GET", nil, 200},
		{"GET", []string{"Sec-Fetch-Site", "same-origin"}, 200},
		{"GET", []string{"Sec-Fetch-Site", "none", "Sec-Fetch-Mode", "navigate"}, 200}, // typed by the user
		{"GET", []string{"Sec-Fetch-Site", "cross-site", "Origin", chat}, 200},
		{"HEAD", []string{"Sec-Fetch-Site", "same-site", "Origin", chat}, 200},
		{"GET", []string{"Sec-Fetch-Site", "cross-site", "Origin", evil}, 403},
		{"GET", []string{"Sec-Fetch-Site", "cross-site"}, 403}, // such as <img>
		{"GET", []string{"Sec-Fetch-Site", "same-site"}, 403},
		{"HEAD", []string{"Sec-Fetch-Site", "cross-site"}, 403},
		{"GET", []string{"Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "navigate"}, 403},
	} {
		r := request(tt.method, own+"/v1/runs", tt.headers...)
		w, _ := respond(t, auth.Options{Origins: []string{chat}}, r)
		if w.Code != tt.status {
			t.Errorf("%s %q: %d, want %d", tt.method, tt.headers, w.Code, tt.status)
		}
		allowed := w.Header().Get("Access-Control-Allow-Origin")
		if (allowed == chat) != (r.Header.Get("Origin") == chat) || allowed != "" && allowed != chat {
			t.Errorf("%q: Access-Control-Allow-Origin: %s", tt.headers, allowed)
		}
		if policy := w.Header().Get("Cross-Origin-Resource-Policy"); policy != "same-origin" {
			t.Errorf("%q: Cross-Origin-Resource-Policy: %s", tt.headers, policy)
		}
	}
}

// A link of another site leads to a page. Nothing else of it reaches the server.
func TestLinksToPages(t *testing.T) {
	page := func(r *http.Request) bool { return r.URL.Path == "/inbox" }
	for _, tt := range []struct {
		method, path string
		headers      []string
		status       int
	}{
		{"GET", "/inbox", []string{"Sec-Fetch-Mode", "navigate", "Sec-Fetch-Dest", "document"}, 200},
		{"GET", "/v1/runs", []string{"Sec-Fetch-Mode", "navigate", "Sec-Fetch-Dest", "document"}, 403},
		{"GET", "/inbox", []string{"Sec-Fetch-Mode", "navigate", "Sec-Fetch-Dest", "iframe"}, 403},
		{"GET", "/inbox", []string{"Sec-Fetch-Mode", "no-cors", "Sec-Fetch-Dest", "image"}, 403},
		{"POST", "/inbox", []string{"Sec-Fetch-Mode", "navigate", "Sec-Fetch-Dest", "document"}, 403},
	} {
		r := request(tt.method, "http://localhost:8484"+tt.path, append(tt.headers, "Sec-Fetch-Site", "cross-site")...)
		if w, _ := respond(t, auth.Options{Page: page}, r); w.Code != tt.status {
			t.Errorf("%s %s %q: %d, want %d", tt.method, tt.path, tt.headers, w.Code, tt.status)
		}
	}
}

// The token in the cookie counts only for requests of our own pages.
func TestTheTokenOfACookie(t *testing.T) {
	const secret = "pex_0123456789abcdefghijklmnopqrstuvwxyz"
	sum := sha256.Sum256([]byte(secret))
	tokens, err := auth.NewTokens([]auth.Token{{Name: "ann", SHA256: hex.EncodeToString(sum[:]), Roles: []string{auth.View}}})
	if err != nil {
		t.Fatal(err)
	}
	o := auth.Options{Tokens: tokens, Origins: []string{"http://chat.localhost"}}
	for _, tt := range []struct {
		method, path string
		headers      []string
		status       int
	}{
		{"GET", "/inbox", []string{"Sec-Fetch-Site", "same-origin"}, 200},
		{"GET", "/inbox", []string{"Sec-Fetch-Site", "none"}, 200},
		{"POST", "/inbox", []string{"Sec-Fetch-Site", "same-origin"}, 200},
		{"POST", "/inbox", []string{"Sec-Fetch-Site", "cross-site"}, 401},
		{"POST", "/inbox", []string{"Origin", "https://evil.example"}, 401},
		{"GET", "/v1/runs", []string{"Sec-Fetch-Site", "same-site"}, 401},
		{"POST", "/v1/runs", []string{"Sec-Fetch-Site", "same-site", "Origin", "http://chat.localhost"}, 401}, // it has tokens of its own
		{"POST", "/v1/runs", []string{"Origin", "http://chat.localhost"}, 401},
		{"GET", "/v1/runs", []string{"Sec-Fetch-Site", "same-site", "Origin", "http://chat.localhost"}, 401},
		{"GET", "/inbox", []string{"Authorization", "Bearer x"}, 401}, // the header counts
	} {
		r := request(tt.method, "http://localhost:8484"+tt.path, tt.headers...)
		r.AddCookie(&http.Cookie{Name: auth.Cookie, Value: secret})
		if w, _ := respond(t, o, r); w.Code != tt.status {
			t.Errorf("%s %s %q: %d, want %d", tt.method, tt.path, tt.headers, w.Code, tt.status)
		}
	}
}

func TestPublicRequestsHaveNoIdentity(t *testing.T) {
	tokens, err := auth.NewTokens(nil)
	if err != nil {
		t.Fatal(err)
	}
	g, err := auth.New(auth.Options{Tokens: tokens, Public: func(r *http.Request) bool { return r.URL.Path == "/login" }})
	if err != nil {
		t.Fatal(err)
	}
	h := g.Middleware(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if id, ok := auth.FromContext(r.Context()); ok {
			t.Error(id)
		}
	}))
	for path, status := range map[string]int{"/login": 200, "/": 401} {
		w := httptest.NewRecorder()
		if h.ServeHTTP(w, request("POST", path)); w.Code != status {
			t.Errorf("%s: %d", path, w.Code)
		}
	}
}

func TestPreflight(t *testing.T) {
	tokens, err := auth.NewTokens(nil)
	if err != nil {
		t.Fatal(err)
	}
	o := auth.Options{Tokens: tokens, Origins: []string{"https://chat.example"}, TenantHeader: "X-Tenant-Id"}
	preflight := func(origin string, headers ...string) (status int, allowed string) {
		w, who := respond(t, o, request("OPTIONS", "/v1/runs", append(headers, "Origin", origin)...))
		if who != "" {
			t.Errorf("%s: the handler was called", origin)
		}
		return w.Code, w.Header().Get("Access-Control-Allow-Origin") + " " + w.Header().Get("Access-Control-Allow-Headers")
	}
	const method = "Access-Control-Request-Method"
	if status, allowed := preflight("https://chat.example", method, "POST", "Access-Control-Request-Headers", "authorization,x-stainless-os,x-evil,x-stainless-a\nb"); status != 204 ||
		allowed != "https://chat.example Authorization, Content-Type, Idempotency-Key, Last-Event-ID, Mcp-Method, Mcp-Name, Mcp-Protocol-Version, Mcp-Session-Id, Prefer, X-Conversation-Id, X-Request-Id, X-Tenant-Id, x-stainless-os" {
		t.Errorf("%d %s", status, allowed)
	}
	if status, allowed := preflight("https://evil.example", method, "POST"); status != 403 || allowed != " " {
		t.Errorf("%d %s", status, allowed)
	}
	if status, _ := preflight("https://chat.example"); status != 401 {
		t.Errorf("OPTIONS that is no preflight: %d", status)
	}
}

func TestInvalidOrigins(t *testing.T) {
	for _, origin := range []string{"*", "https://*.example", "chat.example", "https://chat.example/", "https://chat.example/x", "", "null"} {
		if _, err := auth.New(auth.Options{Origins: []string{origin}}); err == nil {
			t.Errorf("%q is accepted", origin)
		}
	}
}
