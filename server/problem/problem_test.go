package problem_test

import (
	"net/http/httptest"
	"testing"
	"time"

	"github.com/pexctl/pex/server/problem"
)

func TestProblemsFollowRFC9457(t *testing.T) {
	w := httptest.NewRecorder()
	problem.Write(w, problem.New(problem.InvalidRequest, "expected %s", "a <string>").At("/question").With("allowed", []string{"x"}).Retry(1500*time.Millisecond))
	want := `{"type":"https://pexctl.dev/problems/invalid_request","title":"invalid request","status":422,"detail":"expected a <string>",` +
		`"code":"invalid_request","pointer":"/question","allowed":["x"]}` + "\n"
	if got := w.Body.String(); got != want || w.Code != 422 {
		t.Errorf("%d %s", w.Code, got)
	}
	if h := w.Header(); h.Get("Content-Type") != "application/problem+json" || h.Get("Retry-After") != "2" {
		t.Errorf("%v", h)
	}
}
