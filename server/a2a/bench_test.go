package a2a_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/pexctl/pex/engine/goldentest"
	"github.com/pexctl/pex/internal/accesstest"
	"github.com/pexctl/pex/server/a2a"
	"github.com/pexctl/pex/server/api"
)

// BenchmarkLatency compares the time of a run by this protocol with that of the same run by
// the API, each in a new conversation, in turns.
func BenchmarkLatency(b *testing.B) {
	dir := b.TempDir()
	goldentest.Txtar(b, "testdata/tasks.txtar").Extract(b, dir)
	w := accesstest.New(b, dir, accesstest.Options{})
	const message = `{"message": {"messageId": "m", "role": "ROLE_USER", "parts": [{"text": "What is 2 + 3?"}]}}`
	const legacy = `{"message": {"kind": "message", "messageId": "m", "role": "user", "parts": [{"kind": "text", "text": "What is 2 + 3?"}]}}`
	rpc := func(method, params string) string {
		return `{"jsonrpc": "2.0", "id": 1, "method": "` + method + `", "params": ` + params + `}`
	}
	protocol, v1 := a2a.New(a2a.Options{Access: w.Access}), api.New(api.Options{Access: w.Access})
	timed := func(h http.Handler, path, body string) time.Duration {
		began := time.Now()
		res := w.Do(h, a2a.Form(), "ann", http.MethodPost, path, body, http.Header{"Prefer": {"wait=60"}})
		if res.Code != http.StatusOK || !strings.Contains(res.Body.String(), "2 + 3 = 5") {
			b.Fatal(res.Code, res.Body)
		}
		return time.Since(began)
	}
	for _, tt := range []struct{ name, path, body string }{
		{"send", "/a2a/hello", rpc("SendMessage", message)},
		{"stream", "/a2a/hello", rpc("SendStreamingMessage", message)},
		{"rest", "/a2a/hello/message:send", message},
		{"legacy", "/a2a/hello", rpc("message/send", legacy)},
	} {
		b.Run(tt.name, func(b *testing.B) {
			var all, added []time.Duration
			for b.Loop() {
				base := timed(v1, "/v1/agents/hello/runs", fmt.Sprintf(`{"question": "What is 2 + 3?", "memory_id": "%s-%d"}`, tt.name, len(all)))
				own := timed(protocol, tt.path, tt.body)
				all, added = append(all, own), append(added, own-base)
			}
			slices.Sort(all)
			slices.Sort(added)
			b.ReportMetric(float64(all[len(all)/2].Microseconds())/1000, "ms-p50")
			b.ReportMetric(float64(added[len(added)/2].Microseconds())/1000, "added-ms-p50")
		})
	}
}
