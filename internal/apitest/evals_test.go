package apitest_test

import (
	"strings"
	"testing"

	"github.com/pexctl/pex/engine/goldentest"
	"github.com/pexctl/pex/server/manager"
)

// The page of an evaluation has no markup of its cases and answers, and the server lets
// it run only in a sandbox.
func TestPagesOfEvaluationsAreInert(t *testing.T) {
	archive, dir := goldentest.Txtar(t, "testdata/evals.txtar"), t.TempDir()
	archive.Extract(t, dir)
	w := newWorld(t, dir, manager.NewSlots(manager.Limits{Running: 8, RunningPerTenant: 8, Waiting: 8}))
	res := w.do("vic", "GET", "/v1/evals/e-1/report.html", nil, "")
	page := res.Body.String()
	if res.Code != 200 || !strings.Contains(page, "hello-suite") || !strings.Contains(page, "alert(3)") {
		t.Fatalf("%d %.200s", res.Code, page)
	}
	for _, markup := range []string{"<img src=x", "<script>alert", "/srv/"} {
		if strings.Contains(page, markup) {
			t.Errorf("the page contains %s", markup)
		}
	}
	if n := strings.Count(page, "</script>"); n != strings.Count(page, "<script") {
		t.Errorf("%d scripts end", n)
	}
	policy := res.Header().Get("Content-Security-Policy")
	if !strings.Contains(policy, "default-src 'none'") || !strings.HasSuffix(policy, "sandbox allow-scripts") || res.Header().Get("X-Content-Type-Options") != "nosniff" {
		t.Errorf("%v", res.Header())
	}
}
