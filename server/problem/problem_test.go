package problem_test

import (
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/pexctl/pex/server/problem"
)

func TestProblemsFollowRFC9457(t *testing.T) {
	w := httptest.NewRecorder()
	problem.Write(w, httptest.NewRequest("GET", "/", nil), problem.New(problem.InvalidRequest, "expected %s", "a <string>").At("/question").With("allowed", []string{"x"}).Retry(1500*time.Millisecond))
	want := `{"type":"https://pexctl.dev/problems/invalid_request","title":"invalid request","status":422,"detail":"expected a <string>",` +
		`"code":"invalid_request","pointer":"/question","allowed":["x"]}` + "\n"
	if got := w.Body.String(); got != want || w.Code != 422 {
		t.Errorf("%d %s", w.Code, got)
	}
	if h := w.Header(); h.Get("Content-Type") != "application/problem+json" || h.Get("Retry-After") != "2" {
		t.Errorf("%v", h)
	}
}

func TestFormsOfProblems(t *testing.T) {
	form := problem.Form{
		Body: func(_ *http.Request, p *problem.Problem) (string, []byte) {
			return "text/plain", []byte(string(p.Code))
		},
		Status: func(*problem.Problem) int { return 418 },
	}
	w := httptest.NewRecorder()
	problem.Write(w, problem.WithForm(httptest.NewRequest("GET", "/", nil), form), problem.New(problem.NotFound, "none"))
	if w.Code != 418 || w.Body.String() != "not_found" || w.Header().Get("Content-Type") != "text/plain" {
		t.Errorf("%d %s %v", w.Code, w.Body, w.Header())
	}
}

func TestPointersEscapeNames(t *testing.T) {
	if got := problem.Pointer("a/b", "~", "0"); got != "/a~1b/~0/0" {
		t.Error(got)
	}
}
