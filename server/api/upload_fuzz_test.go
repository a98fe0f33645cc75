package api_test

import (
	"log/slog"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/pexctl/pex/engine/artifact"
	"github.com/pexctl/pex/server/access"
	"github.com/pexctl/pex/server/agents"
	"github.com/pexctl/pex/server/api"
	"github.com/pexctl/pex/server/auth"
)

// No upload makes the server fail, and one that is accepted is stored with its size.
func FuzzUploads(f *testing.F) {
	f.Add("", "content")
	f.Add("application/json", `{"a":1}`)
	f.Add("multipart/form-data; boundary=X", "--X\r\nContent-Disposition: form-data; name=\"file\"; filename=\"../a\"\r\n\r\ncontent\r\n--X--\r\n")
	f.Add("multipart/form-data; boundary=X", "--X\r\nContent-Disposition: form-data; name=\"file\"\r\n\r\ncut")
	f.Add("multipart/form-data", "--X--")
	f.Add("multipart/form-data; boundary=\"\"", "----")
	f.Add("multipart/form-data; boundary=X; boundary=Y", "--X--")
	tenant := &access.Tenant{Artifacts: artifact.Open(f.TempDir(), 1<<20)}
	h := api.New(api.Options{Access: &access.Server{Tenant: func(string) *access.Tenant { return tenant }, Agents: &agents.Set{}, Log: slog.New(slog.DiscardHandler)}, MaxUpload: 1000})
	f.Fuzz(func(t *testing.T, kind, body string) {
		r := httptest.NewRequest("POST", "/v1/artifacts", strings.NewReader(body))
		r.Header.Set("Content-Type", kind)
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r.WithContext(auth.NewContext(r.Context(), auth.Identity{Roles: []string{auth.Run}})))
		switch w.Code {
		case 200, 201:
			digest := w.Header().Get("Location")[len("/v1/artifacts/"):]
			if size, err := tenant.Artifacts.Size(digest); err != nil || size > int64(len(body)) {
				t.Errorf("%q %q: %d, %v", kind, body, size, err)
			}
		case 413, 422, 507:
		default:
			t.Errorf("%q %q: %d %s", kind, body, w.Code, w.Body)
		}
	})
}
