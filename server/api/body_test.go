package api_test

import (
	"encoding/json"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/pexctl/pex/server/access"
	"github.com/pexctl/pex/server/api"
	"github.com/pexctl/pex/server/auth"
)

// A body over the limit is rejected before it is read.
func TestLargeBodies(t *testing.T) {
	h := api.New(api.Options{MaxBody: 100, Access: &access.Server{Tenant: func(string) *access.Tenant { return nil }, Log: slog.New(slog.DiscardHandler)}})
	for _, c := range []struct {
		body   string
		status int
	}{{`{"question": "` + strings.Repeat("a", 100) + `"}`, http.StatusRequestEntityTooLarge}, {`{"question": "a"}`, http.StatusNotFound}} {
		r := httptest.NewRequest("POST", "/v1/agents/a/runs", strings.NewReader(c.body))
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r.WithContext(auth.NewContext(r.Context(), auth.Identity{})))
		if w.Code != c.status {
			t.Errorf("%d bytes: %d %s", len(c.body), w.Code, w.Body)
		}
	}
}

// A body that is accepted is valid JSON without duplicate keys, so that every parser reads
// the same values.
func FuzzBodies(f *testing.F) {
	for _, body := range []string{`{"a":1,"a":2}`, `{"a":{"b":[1,{"c":null}]}}`, "[[[", `"\u0000"`, "\"\xff\"", `{"a":1}{}`, ` `, `{"\u0061":1,"a":2}`, `{"a":1,}`} {
		f.Add([]byte(body))
	}
	h := api.New(api.Options{Access: &access.Server{Tenant: func(string) *access.Tenant { return nil }, Log: slog.New(slog.DiscardHandler)}})
	f.Fuzz(func(t *testing.T, body []byte) {
		r := httptest.NewRequest("POST", "/v1/runs/r-1/cancel", strings.NewReader(string(body)))
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r.WithContext(auth.NewContext(r.Context(), auth.Identity{})))
		if w.Code >= 500 || w.Code < 400 {
			t.Fatalf("%q: %d %s", body, w.Code, w.Body)
		}
		if w.Code != http.StatusBadRequest && len(strings.TrimLeft(string(body), " \t\r\n")) > 0 && !json.Valid(body) {
			t.Errorf("%q was accepted", body)
		}
	})
}
