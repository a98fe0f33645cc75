package apiclient_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/pexctl/pex/internal/app/apiclient"
)

// Names are escaped in paths and queries, and the responses are decoded.
func TestConversationsAndEvaluations(t *testing.T) {
	var requests []string
	c := newClient(t, func(w http.ResponseWriter, r *http.Request) {
		requests = append(requests, r.Method+" "+r.RequestURI)
		switch {
		case r.Method == http.MethodDelete:
			w.WriteHeader(http.StatusNoContent)
		case strings.HasSuffix(r.URL.Path, "/memories"):
			fmt.Fprint(w, `{"conversations": [{"memory_id": "a/b", "agents": ["desk"]}]}`)
		case strings.Contains(r.URL.Path, "/memories/"):
			fmt.Fprint(w, `{"memory_id": "a/b", "interactions": [{"question": "Q"}]}`)
		case strings.HasSuffix(r.URL.Path, "/evals"):
			fmt.Fprint(w, `{"evals": [{"id": "e-1"}], "next": "e-1"}`)
		case strings.HasSuffix(r.URL.Path, ".html"):
			fmt.Fprint(w, "<p>")
		case strings.HasSuffix(r.URL.Path, "e-1"):
			fmt.Fprint(w, `{"verdict": "passed", "cases": [{"id": "c-1"}, {"id": "c-2"}]}`)
		default:
			refuse(w, http.StatusNotFound, `{"code": "not_found", "detail": "no evaluation"}`)
		}
	})
	ctx := t.Context()
	if all, err := c.Conversations(ctx, "help desk"); err != nil || len(all) != 1 || all[0].MemoryID != "a/b" || all[0].Agents[0] != "desk" {
		t.Error(all, err)
	}
	if content, err := c.Conversation(ctx, "a/b", ""); err != nil || content.Interactions[0].Question != "Q" {
		t.Error(content, err)
	}
	if err := c.DeleteConversation(ctx, "a/b", "desk"); err != nil {
		t.Error(err)
	}
	if page, err := c.Evals(ctx, "s 1", 7, "e-0"); err != nil || len(page.Evals) != 1 || page.Next != "e-1" {
		t.Error(page, err)
	}
	if r, err := c.Eval(ctx, "e-1"); err != nil || r.Verdict != "passed" || r.Cases.Len() != 2 || r.Cases.At(1).ID != "c-2" {
		t.Error(r, err)
	}
	var page strings.Builder
	if err := c.EvalHTML(ctx, "e-1", &page); err != nil || page.String() != "<p>" {
		t.Error(&page, err)
	}
	if _, err := c.Eval(ctx, "e-2"); !apiclient.IsCode(err, apiclient.NotFound) {
		t.Error(err)
	}
	want := []string{
		"GET /v1/memories?agent=help+desk", "GET /v1/memories/a%2Fb", "DELETE /v1/memories/a%2Fb?agent=desk", "GET /v1/evals?cursor=e-0&limit=7&suite=s+1",
		"GET /v1/evals/e-1", "GET /v1/evals/e-1/report.html", "GET /v1/evals/e-2",
	}
	if strings.Join(requests, "\n") != strings.Join(want, "\n") {
		t.Errorf("%s", strings.Join(requests, "\n"))
	}
}
