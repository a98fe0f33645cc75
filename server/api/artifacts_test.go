package api_test

import (
	"io"
	"log/slog"
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"

	"github.com/pexctl/pex/engine/artifact"
	"github.com/pexctl/pex/server/access"
	"github.com/pexctl/pex/server/agents"
	"github.com/pexctl/pex/server/api"
	"github.com/pexctl/pex/server/auth"
)

// zeros are n bytes.
func zeros(n int64) io.Reader { return io.LimitReader(zeroReader{}, n) }

type zeroReader struct{}

func (zeroReader) Read(b []byte) (int, error) { return len(b), nil }

// An upload has exactly the size that the server allows, and is not held in memory.
func TestUploadsAreStreamed(t *testing.T) {
	const limit = 64 << 20
	tenant := &access.Tenant{Artifacts: artifact.Open(t.TempDir(), 0)}
	h := api.New(api.Options{Access: &access.Server{Tenant: func(string) *access.Tenant { return tenant }, Agents: &agents.Set{}, Log: slog.New(slog.DiscardHandler)}, MaxUpload: limit})
	upload := func(body io.Reader) (int, string) {
		r := httptest.NewRequest("POST", "/v1/artifacts", body)
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r.WithContext(auth.NewContext(r.Context(), auth.Identity{Roles: []string{auth.Run}})))
		return w.Code, w.Body.String()
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	status, body := upload(zeros(limit))
	runtime.ReadMemStats(&after)
	if status != 201 || !strings.Contains(body, `"size": 67108864`) {
		t.Fatal(status, body)
	}
	if n := after.TotalAlloc - before.TotalAlloc; n > 4<<20 {
		t.Errorf("an upload of 64 MiB allocates %d bytes", n)
	}
	if status, body := upload(zeros(limit + 1)); status != 413 || !strings.Contains(body, "larger than 67108864 bytes") {
		t.Errorf("over the limit: %d %s", status, body)
	}
}
