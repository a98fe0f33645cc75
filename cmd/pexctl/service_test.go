//go:build unix

package main

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

// TestServiceScripts runs agents whose tools ask a service over HTTP:
// testdata/script/service/*.txtar. The service says what it was asked.
func TestServiceScripts(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		if r.URL.Path == "/gone" {
			http.Error(w, "nothing here since May", http.StatusGone)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(map[string]any{"asked": map[string]any{
			"method": r.Method, "path": r.URL.EscapedPath(), "query": r.URL.Query(), "body": string(body),
			"let in": r.Header.Get("Authorization") == "Bearer right", "key": r.Header.Get("Idempotency-Key") != "",
		}})
	}))
	t.Cleanup(s.Close)
	testscript.Run(t, testscript.Params{
		Dir:                "../../testdata/script/service",
		RequireUniqueNames: true,
		Setup: func(e *testscript.Env) error {
			e.Setenv("SERVICE", s.URL)
			e.Vars = append(e.Vars, noSleep)
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"exits": runAndExpect,
			"json":  wantJSON,
		},
	})
}
