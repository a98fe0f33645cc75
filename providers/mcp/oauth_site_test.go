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

// guardedSite is a tool server that requires a token, and its authorization server, at one URL.
type guardedSite struct {
	URL  string
	life int               // lifetime of a token in seconds
	meta map[string]string // replaces values of the provider's metadata
	deny bool              // the provider denies every sign-in

	mu        sync.Mutex
	valid     string // the accepted token
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
		s.writeJSON(w, r, map[string]any{"resource": s.URL + "/mcp", "authorization_servers": []string{s.metadata("authorization_server", s.URL)}})
	})
	mux.HandleFunc("/.well-known/oauth-authorization-server", func(w http.ResponseWriter, r *http.Request) {
		s.writeJSON(w, r, map[string]any{
			"issuer": s.URL, "authorization_endpoint": s.metadata("authorization_endpoint", s.URL+"/authorize"),
			"token_endpoint": s.metadata("token_endpoint", s.URL+"/token"), "registration_endpoint": s.URL + "/register",
			"code_challenge_methods_supported": []string{"S256"}, "response_types_supported": []string{"code"},
		})
	})
	mux.HandleFunc("/register", func(w http.ResponseWriter, r *http.Request) {
		var registration map[string]any
		if err := json.NewDecoder(r.Body).Decode(&registration); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		registration["client_id"] = "registered"
		w.WriteHeader(http.StatusCreated)
		s.writeJSON(w, r, registration)
	})
	mux.HandleFunc("/authorize", s.authorize)
	mux.HandleFunc("/token", s.token)
	web := httptest.NewServer(mux)
	t.Cleanup(web.Close)
	s.URL = web.URL
	return s
}

func (s *guardedSite) metadata(key, fallback string) string {
	if v := s.meta[key]; v != "" {
		return v
	}
	return fallback
}

func (s *guardedSite) writeJSON(w http.ResponseWriter, r *http.Request, v any) {
	s.mu.Lock()
	s.bearers = append(s.bearers, r.Header.Get("Authorization"))
	s.mu.Unlock()
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(v) // the client may have disconnected
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
	exchanged := base64.RawURLEncoding.EncodeToString(sum[:]) == s.challenge && r.FormValue("code") == "the-code"
	refreshed := r.FormValue("grant_type") == "refresh_token" && r.FormValue("refresh_token") == "refresh"
	if refreshed {
		s.refreshed++
	}
	s.issued++
	s.valid = fmt.Sprintf("token-%d", s.issued)
	token := map[string]any{"access_token": s.valid, "token_type": "Bearer", "refresh_token": "refresh", "expires_in": s.life}
	s.mu.Unlock()
	if !exchanged && !refreshed {
		http.Error(w, `{"error": "invalid_grant"}`, http.StatusBadRequest)
		return
	}
	s.writeJSON(w, r, token)
}

// revoke invalidates the current token.
func (s *guardedSite) revoke() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.valid = ""
}
