package agui_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/pexctl/pex/engine/goldentest"
	"github.com/pexctl/pex/server/agui"
	"github.com/pexctl/pex/server/api"
)

// BenchmarkLatency compares the time of a run by this protocol with that of the same run by
// the API, each in a new conversation, in turns.
func BenchmarkLatency(b *testing.B) {
	dir := b.TempDir()
	goldentest.Txtar(b, "testdata/bad-input.txtar").Extract(b, dir)
	w, post := newWorld(b, dir)
	v1 := api.New(api.Options{Access: w.Access})
	timed := func(run func() *httptest.ResponseRecorder) time.Duration {
		began := time.Now()
		res := run()
		if res.Code != http.StatusOK || !strings.Contains(res.Body.String(), "2 + 3 = 5") {
			b.Fatal(res.Code, res.Body)
		}
		return time.Since(began)
	}
	var all, added []time.Duration
	for b.Loop() {
		n := len(all)
		base := timed(func() *httptest.ResponseRecorder {
			return w.Do(v1, agui.Form(), "ann", http.MethodPost, "/v1/agents/hello/runs", fmt.Sprintf(`{"question": "What is 2 + 3?", "memory_id": "v1-%d"}`, n), http.Header{"Prefer": {"wait=60"}})
		})
		own := timed(func() *httptest.ResponseRecorder {
			return post("ann", "hello", fmt.Sprintf(`{"threadId": "t-%d", "runId": "b-%d", "messages": [{"id": "m", "role": "user", "content": "What is 2 + 3?"}]}`, n, n))
		})
		all, added = append(all, own), append(added, own-base)
	}
	slices.Sort(all)
	slices.Sort(added)
	b.ReportMetric(float64(all[len(all)/2].Microseconds())/1000, "ms-p50")
	b.ReportMetric(float64(added[len(added)/2].Microseconds())/1000, "added-ms-p50")
}
