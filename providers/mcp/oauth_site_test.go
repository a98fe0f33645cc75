package mcp_test

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"sync"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// guardedSite is a tool server whose calls want a token, and the provider that
// gives them, at one address.
type guardedSite struct {
	URL  string
	life int               // seconds that a token lives
	meta map[string]string // replaces members of the provider's metadata
	deny bool              // nobody is let in

	mu        sync.Mutex
	valid     string // the token that is taken
	issued    int
	refreshed int
	challenge string // of the last sign-in
	bearers   []string
}

func newGuardedSite(t *testing.T) *guardedSite {
	t.Helper()
	s := &guardedSite{life: 3600}
	server := sdk.NewServer(&sdk.Implementation{Name: "guarded", Version: "1"}, nil)
	sdk.AddTool(server, &sdk.Tool{Name: "who", Description: "Says who asks."}, func(context.Context, *sdk.CallToolRequest, struct{}) (*sdk.CallToolResult, any, error) {
		return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: "ada"}}}, nil, nil
	})
	tools := sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return server }, &sdk.StreamableHTTPOptions{Stateless: true})
	mux := http.NewServeMux()
	mux.HandleFunc("/mcp", func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		ok := s.valid != "" && r.Header.Get("Authorization") == "Bearer "+s.valid
		s.mu.Unlock()
		if !ok {
			w.Header().Set("WWW-Authenticate", `Bearer resource_metadata="`+s.URL+`/.well-known/oauth-protected-resource/mcp"`)
			http.Error(w, "who are you?", http.StatusUnauthorized)
			return
		}
		tools.ServeHTTP(w, r)
	})
	mux.HandleFunc("/.well-known/oauth-protected-resource/mcp", func(w http.ResponseWriter, r *http.Request) {
		s.tell(w, r, map[string]any{"resource": s.URL + "/mcp", "authorization_servers": []string{s.of("authorization_server", s.URL)}})
	})
	mux.HandleFunc("/.well-known/oauth-authorization-server", func(w http.ResponseWriter, r *http.Request) {
		s.tell(w, r, map[string]any{
			"issuer": s.URL, "authorization_endpoint": s.of("authorization_endpoint", s.URL+"/authorize"),
			"token_endpoint": s.of("token_endpoint", s.URL+"/token"), "registration_endpoint": s.URL + "/register",
			"code_challenge_methods_supported": []string{"S256"}, "response_types_supported": []string{"code"},
		})
	})
	mux.HandleFunc("/register", func(w http.ResponseWriter, r *http.Request) {
		var asked map[string]any
		if err := json.NewDecoder(r.Body).Decode(&asked); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		asked["client_id"] = "registered"
		w.WriteHeader(http.StatusCreated)
		s.tell(w, r, asked)
	})
	mux.HandleFunc("/authorize", s.authorize)
	mux.HandleFunc("/token", s.token)
	web := httptest.NewServer(mux)
	t.Cleanup(web.Close)
	s.URL = web.URL
	return s
}

func (s *guardedSite) of(member, otherwise string) string {
	if v := s.meta[member]; v != "" {
		return v
	}
	return otherwise
}

func (s *guardedSite) tell(w http.ResponseWriter, r *http.Request, v any) {
	s.mu.Lock()
	s.bearers = append(s.bearers, r.Header.Get("Authorization"))
	s.mu.Unlock()
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(v) // a client that has gone is no trouble of ours
}

func (s *guardedSite) authorize(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	s.mu.Lock()
	s.challenge = q.Get("code_challenge")
	s.mu.Unlock()
	back := url.Values{"state": {q.Get("state")}, "code": {"the-code"}}
	if s.deny {
		back = url.Values{"state": {q.Get("state")}, "error": {"access_denied"}, "error_description": {"not you"}}
	}
	http.Redirect(w, r, q.Get("redirect_uri")+"?"+back.Encode(), http.StatusFound)
}

func (s *guardedSite) token(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	sum := sha256.Sum256([]byte(r.FormValue("code_verifier")))
	proved := base64.RawURLEncoding.EncodeToString(sum[:]) == s.challenge && r.FormValue("code") == "the-code"
	again := r.FormValue("grant_type") == "refresh_token" && r.FormValue("refresh_token") == "refresh"
	if again {
		s.refreshed++
	}
	s.issued++
	s.valid = fmt.Sprintf("token-%d", s.issued)
	token := map[string]any{"access_token": s.valid, "token_type": "Bearer", "refresh_token": "refresh", "expires_in": s.life}
	s.mu.Unlock()
	if !proved && !again {
		http.Error(w, `{"error": "invalid_grant"}`, http.StatusBadRequest)
		return
	}
	s.tell(w, r, token)
}

// revoke has the site take no token that it gave.
func (s *guardedSite) revoke() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.valid = ""
}
