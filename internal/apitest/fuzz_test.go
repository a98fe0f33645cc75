package apitest_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
)

// No request body makes the server fail, and each error is a problem.
func FuzzRequests(f *testing.F) {
	w := desk(f)
	var posts []operation
	for _, o := range operations(f) {
		if o.method != http.MethodPost {
			continue
		}
		f.Add(len(posts), o.body(), "")
		posts = append(posts, o)
	}
	for i := range posts {
		for _, body := range []string{
			"", "null", "[]", `{"question":"hi","run_id":"last"}`, `{"question":"\ud800"}`, `{"earlier":[{"role":"user","content":"a"}]}`,
			`{"parameters":{"question":9007199254740993}}`, `{"parameters":null,"set":null}`, `{"set":["limits.max_steps=1e99"]}`,
			`{"path":"x","do":"edit","edit":{"a":[]}}`, `{"at":"..","on_drift":"live"}`, strings.Repeat(`{"a":`, 200),
		} {
			f.Add(i, body, "wait=0, respond-async")
		}
	}
	ids := map[string]string{"agent": "desk", "run": "r-1"}
	f.Fuzz(func(t *testing.T, i int, body, prefer string) {
		if i < 0 || i >= len(posts) || len(prefer) > 100 || strings.Contains(prefer, "wait") && prefer != "wait=0, respond-async" {
			t.Skip()
		}
		o := posts[i]
		res := w.do("root", o.method, o.target(ids), http.Header{"Prefer": {prefer}}, body)
		if res.Code >= 500 && res.Code != http.StatusServiceUnavailable {
			t.Errorf("%s %s: %d %s", o.path, body, res.Code, res.Body)
		}
		var p struct {
			Type, Title, Detail, Code string
			Status                    int
		}
		if res.Code < 400 {
			return
		}
		if err := json.Unmarshal(res.Body.Bytes(), &p); err != nil || p.Type == "" || p.Title == "" || p.Detail == "" || p.Code == "" || p.Status != res.Code {
			t.Errorf("%s %s: %d %s", o.path, body, res.Code, res.Body)
		}
	})
}
