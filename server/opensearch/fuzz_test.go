package opensearch_test

import (
	"encoding/json"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/pexctl/pex/server/auth"
	"github.com/pexctl/pex/server/problem"
)

// No body and no filter is an error of the server, and every response is JSON.
func FuzzRequests(f *testing.F) {
	for _, body := range []string{connector, remote, agent, question, `{"query": {"bool": {"should": [{"term": {"a": {"value": 1}}}]}}}`, `{"parameters": "{}"}`, `{"input": [1]}`, `[`, `{"llm": null, "tools": {}, "type": "conversational", "name": "x"}`} {
		f.Add(body, "hits.**,-*.a", uint8(len(body)))
	}
	w := newWorld(f)
	w.register()
	home := w.Tenant("").Home
	root := auth.Identity{Subject: "root", Issuer: "tokens", Roles: []string{auth.Admin}}
	f.Fuzz(func(t *testing.T, body, filter string, which uint8) {
		paths := []string{"/connectors/_create", "/models/_register", "/agents/_register", "/agents/_search", "/memory", "/agents/none/_execute", "/memory/_search", "/tasks/_search"}
		r := httptest.NewRequest("POST", "/_plugins/_ml"+paths[int(which)%len(paths)]+"?filter_path="+url.QueryEscape(filter), strings.NewReader(body))
		out := httptest.NewRecorder()
		w.handler.ServeHTTP(out, problem.WithForm(r.WithContext(auth.NewContext(r.Context(), root)), w.form))
		if response := out.Body.String(); out.Code >= 500 || !json.Valid([]byte(response)) || strings.Contains(response, home) {
			t.Errorf("%d %s", out.Code, response)
		}
	})
}
