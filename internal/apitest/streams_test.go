package apitest_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/pexctl/pex/engine/goldentest"
	"github.com/pexctl/pex/server/manager"
)

// A feed beyond the limit is rejected, as are all feeds while the server shuts down.
func TestOpenFeedsAreLimited(t *testing.T) {
	archive, dir := goldentest.Txtar(t, "testdata/runs.txtar"), t.TempDir()
	archive.Extract(t, dir)
	w := newWorld(t, dir, manager.NewSlots(manager.Limits{Running: 8, RunningPerTenant: 8, Waiting: 8}))
	w.do("ann", "POST", "/v1/agents/hello/runs", http.Header{"Prefer": {"wait=30"}}, `{"question":"hi","run_id":"r-1"}`)
	var releases []func()
	for {
		_, release, err := w.streams.Open(t.Context(), "")
		if err != nil {
			break
		}
		releases = append(releases, release)
	}
	watch := func() (int, string) {
		res := w.do("ann", "GET", "/v1/runs/r-1/events", http.Header{}, "")
		return res.Code, res.Header().Get("Retry-After") + " " + res.Body.String()
	}
	if status, body := watch(); status != 503 || !strings.HasPrefix(body, "5 ") || !strings.Contains(body, `"detail":"too many requests watch runs or wait for results"`) {
		t.Errorf("%d %s", status, body)
	}
	start := func() (int, string) {
		res := w.do("ann", "POST", "/v1/agents/hello/runs", http.Header{"Accept": {"text/event-stream"}}, `{"question":"hi","run_id":"r-2"}`)
		return res.Code, res.Body.String()
	}
	if status, body := start(); status != 503 || !strings.Contains(body, "too many requests watch") {
		t.Errorf("a new run: %d %s", status, body)
	}
	if res := w.do("ann", "POST", "/v1/agents/hello/runs", http.Header{"Prefer": {"wait=1"}}, `{"question":"hi","run_id":"r-2"}`); res.Code != 503 {
		t.Errorf("a request that waits: %d %s", res.Code, res.Body)
	}
	if status := w.do("ann", "GET", "/v1/runs/r-2", nil, "").Code; status != 404 {
		t.Errorf("a run without its feed was started: %d", status)
	}
	releases[0]()
	if status, body := start(); status != 200 {
		t.Errorf("a new run: %d %s", status, body)
	}
	if res := w.do("ann", "POST", "/v1/agents/hello/runs", http.Header{"Accept": {"text/event-stream"}}, `{"question":"hi","parameters":{"x":1}}`); res.Code != 422 {
		t.Errorf("%d %s", res.Code, res.Body)
	}
	for range 2 { // a feed that ended does not count
		if status, body := watch(); status != 200 {
			t.Errorf("after one was closed: %d %s", status, body)
		}
	}
	w.streams.Close()
	if status, body := watch(); status != 503 || !strings.Contains(body, `"code":"shutting_down"`) {
		t.Errorf("at shutdown: %d %s", status, body)
	}
}
