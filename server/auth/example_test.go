package auth_test

import (
	"fmt"
	"log"
	"net/http"
	"net/http/httptest"

	"github.com/pexctl/pex/server/auth"
)

// The server stores the SHA-256 of a token; only the client has its secret.
func Example() {
	secret, sum := auth.NewToken()
	tokens, err := auth.NewTokens([]auth.Token{{Name: "ci", SHA256: sum, Roles: []string{auth.Run}}})
	if err != nil {
		log.Fatal(err)
	}
	guard, err := auth.New(auth.Options{Tokens: tokens, DefaultTenant: "default"})
	if err != nil {
		log.Fatal(err)
	}
	handler := guard.Middleware(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		id, _ := auth.FromContext(r.Context())
		fmt.Println(id.Subject, auth.Can(id, auth.Run, nil), auth.Can(id, auth.Approve, nil))
	}))
	r := httptest.NewRequest("POST", "/v1/agents/triage/runs", nil)
	r.Header.Set("Authorization", "Bearer "+secret)
	handler.ServeHTTP(httptest.NewRecorder(), r)
	// Output: ci true false
}
