package mcp_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/pexctl/pex/server/access"
	"github.com/pexctl/pex/server/auth"
	"github.com/pexctl/pex/server/mcp"
	"github.com/pexctl/pex/server/problem"
)

// rejects verifies no token.
type rejects struct{}

// Verify implements auth.Verifier.
func (rejects) Verify(context.Context, string) (map[string]any, error) {
	return nil, errors.New("invalid")
}

// A client without a token finds the issuer in the metadata.
func TestClientsFindTheIssuer(t *testing.T) {
	guard, err := auth.New(auth.Options{OIDC: &auth.OIDC{Verifier: rejects{}, Issuer: "https://id.example"}, Metadata: mcp.MetadataURL(&access.Server{})})
	if err != nil {
		t.Fatal(err)
	}
	get := func(h http.Handler, target string) *httptest.ResponseRecorder {
		w := httptest.NewRecorder()
		h.ServeHTTP(w, problem.WithForm(httptest.NewRequest(http.MethodGet, target, nil), mcp.Form()))
		return w
	}
	protected := guard.Middleware(http.NotFoundHandler())
	w := get(protected, "https://agents.example/mcp")
	if h := w.Header().Get("WWW-Authenticate"); w.Code != 401 || h != `Bearer resource_metadata="https://agents.example/.well-known/oauth-protected-resource/mcp"` {
		t.Error(w.Code, h)
	}
	if h := get(protected, "https://agents.example/v1/runs").Header().Get("WWW-Authenticate"); h != "Bearer" {
		t.Error(h)
	}
	w = get(mcp.Metadata(&access.Server{}, guard.Issuer), "http://agents.example/.well-known/oauth-protected-resource/mcp")
	if want := `{"authorization_servers":["https://id.example"],"bearer_methods_supported":["header"],"resource":"http://agents.example/mcp"}`; w.Code != 200 || w.Body.String() != want {
		t.Error(w.Code, w.Body)
	}
	if w = get(mcp.Metadata(&access.Server{}, func() string { return "" }), "/.well-known/oauth-protected-resource"); w.Code != 404 {
		t.Error(w.Code, w.Body)
	}
}
