package apitest_test

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pexctl/pex/engine/goldentest"
	"github.com/pexctl/pex/server/manager"
	"github.com/pexctl/pex/server/web"
)

// evaluated are the pages of a world with two evaluations of hello, and one of secret.
func evaluated(t *testing.T) *pages {
	t.Helper()
	archive, dir := goldentest.Txtar(t, "testdata/evals.txtar"), t.TempDir()
	archive.Extract(t, dir)
	evals := filepath.Join(dir, "home", "evals")
	if err := os.CopyFS(filepath.Join(evals, "e-7"), os.DirFS(filepath.Join(evals, "e-1"))); err != nil {
		t.Fatal(err)
	}
	manifest := filepath.Join(evals, "e-7", "manifest.json")
	b, err := os.ReadFile(manifest)
	if err == nil {
		b = []byte(strings.NewReplacer(`"id": "e-1"`, `"id": "e-7"`, "2026-11-23T16", "2026-11-22T16").Replace(string(b)))
		err = os.WriteFile(manifest, b, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	w := newWorld(t, dir, manager.NewSlots(manager.Limits{Running: 8, RunningPerTenant: 8, Waiting: 8}))
	return &pages{w, web.New(web.Options{Access: w.access, Version: "test"})}
}

// The page of an agent has its versions with their runs and pass rates, prompts and warnings; that of a suite its
// history; that of an evaluation links to both.
func TestVersionsAndTrends(t *testing.T) {
	p := evaluated(t)
	if res := p.do("ann", "POST", "/v1/agents/hello/runs", http.Header{"Prefer": {"wait=30"}}, `{"question": "Hi"}`); res.Code != http.StatusCreated && res.Code != http.StatusOK {
		t.Fatal(res.Code, res.Body)
	}
	for _, c := range []struct {
		client, path string
		status       int
		has, hasNot  string
	}{
		{"ann", "/agents/hello", http.StatusOK, `<span class="badge info">current</span></th><td class="num">1</td><td class="num">1</td>`, "secret-suite"},
		{"ann", "/agents/hello", http.StatusOK, `<a href="/evals/e-7">hello-suite</a>: 100.0% <span class="muted">(`, ""},
		{"ann", "/agents/hello", http.StatusOK, "(the question)", ""}, // in the prompts
		{"ann", "/evals", http.StatusOK, `<th scope="row" data-at="1795364102"><a href="/evals/e-7">2026-11-22 16:15:02</a></th><td class="num" data-value="100">100.0%</td>`, "secret-suite"},
		{"ann", "/evals?suite=hello-suite", http.StatusOK, `<option value="hello-suite" selected>`, ""},
		{"ann", "/evals?suite=none", http.StatusOK, "No evaluations", ""},
		{"ann", "/evals/e-1", http.StatusOK, `<a href="/evals?suite=hello-suite">`, "/srv/"},
		{"ann", "/evals/e-1", http.StatusOK, `<a href="/agents/hello">`, ""},
		{"ann", "/evals/e-0", http.StatusNotFound, "no evaluation", ""}, // of secret
		{"root", "/evals/e-0", http.StatusOK, "secret-suite", ""},
		{"eve", "/evals/e-1", http.StatusNotFound, "no evaluation", ""},
	} {
		status, body := p.get(c.client, c.path)
		if status != c.status || !strings.Contains(body, c.has) || c.hasNot != "" && strings.Contains(body, c.hasNot) {
			t.Errorf("%s %s: %d has not %s, or has %s: %s", c.client, c.path, status, c.has, c.hasNot, body)
		}
		if strings.Contains(body, p.dir) {
			t.Errorf("%s %s names the folder of the server", c.client, c.path)
		}
	}
}

// The warnings about a spec are those of pexctl vet, without paths of the server.
func TestDiagnosticsOfAnAgent(t *testing.T) {
	dir := t.TempDir()
	spec := "apiVersion: pex/v1\nkind: Agent\nmetadata: {name: loose}\nllms:\n  main: {provider: scripted, options: {replies: [{text: hi}]}}\n  spare: {provider: scripted, options: {replies: [{text: hi}]}}\nplanner: {llm: main}\nmemory: {backend: none}\n"
	if err := os.Mkdir(filepath.Join(dir, "loose"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "loose", "spec.yaml"), []byte(spec), 0o600); err != nil {
		t.Fatal(err)
	}
	w := newWorld(t, dir, manager.NewSlots(manager.Limits{Running: 1, RunningPerTenant: 1, Waiting: 1}))
	p := &pages{w, web.New(web.Options{Access: w.access})}
	res := p.do("ann", "GET", "/v1/agents/loose/diagnostics", nil, "")
	if text := res.Body.String(); res.Code != http.StatusOK || !strings.Contains(text, `"file": "spec.yaml"`) || !strings.Contains(text, `"line": 6`) || strings.Contains(text, dir) {
		t.Error(res.Code, text)
	}
	if _, body := p.get("ann", "/agents/loose"); !strings.Contains(body, "<code>spec.yaml:6:") || strings.Contains(body, dir) {
		t.Error(body)
	}
	if res := p.do("none", "GET", "/v1/agents/loose/diagnostics", nil, ""); res.Code != http.StatusNotFound {
		t.Error(res.Code, res.Body)
	}
}
