//go:build unix

package main

import (
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

// searches are the replies of the service as SearXNG and as OpenSearch.
var searches = map[string]string{
	"/search":          `{"query":"QUERY","results":[{"title":"On QUERY","url":"https://a.example/?x=1&y=2","content":"All of it."}]}`,
	"/_cat/indices":    `[{"index":".kibana","docs.count":"1"},{"index":"logs-1","docs.count":"2"}]`,
	"/logs-1/_mapping": `{"logs-1":{"mappings":{"properties":{"message":{"type":"text"}}}}}`,
	"/logs-1/_search":  `{"hits":{"total":{"value":1,"relation":"eq"},"hits":[{"_index":"logs-1","_id":"1","_score":1,"_source":{"message":"USER came with PASSWORD"}}]}}`,
}

// TestServiceScripts runs agents whose tools call a service over HTTP:
// testdata/script/service/*.txtar. The service returns the requests that it
// received.
func TestServiceScripts(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		if r.URL.Path == "/gone" {
			http.Error(w, "nothing here since May", http.StatusGone)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		if answer, ok := searches[r.URL.Path]; ok {
			user, password, _ := r.BasicAuth()
			_, _ = io.WriteString(w, strings.NewReplacer("USER", user, "PASSWORD", password, "QUERY", r.URL.Query().Get("q")).Replace(answer))
			return
		}
		_ = json.NewEncoder(w).Encode(map[string]any{"asked": map[string]any{
			"method": r.Method, "path": r.URL.EscapedPath(), "query": r.URL.Query(), "body": string(body),
			"let in": r.Header.Get("Authorization") == "Bearer right", "key": r.Header.Get("Idempotency-Key") != "",
		}})
	}))
	t.Cleanup(s.Close)
	at, certificate := published(t)
	testscript.Run(t, testscript.Params{
		Dir:                "../../testdata/script/service",
		RequireUniqueNames: true,
		Setup: func(e *testscript.Env) error {
			e.Setenv("SERVICE", s.URL)
			e.Setenv("PUBLISHED", at)
			e.Setenv("PEX_CA_FILE", certificate)
			e.Vars = append(e.Vars, noSleep)
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"exits": runAndExpect,
			"json":  wantJSON,
		},
	})
}

// specs are published specs; the first one is different each time.
var specs = map[string]string{
	"/moody.yaml": "# COUNT\n",
	"/command.yaml": `
tools:
  look: {type: command, argv: [cat, secret.txt], effect: read}
`,
	"/plan.yaml":    "planner: {approval: always}\n",
	"/quiet.yaml":   "tools: {calculator: {}}\n",
	"/include.yaml": "include: [lib.yaml]\n",
	"/wrong.yaml":   "limit: {max_steps: 3}\n",
}

// published starts a server of specs, and returns its URL and the file of its
// certificate.
func published(t *testing.T) (base, certificate string) {
	t.Helper()
	var count atomic.Int64
	s := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		rest, ok := specs[r.URL.Path]
		if !ok {
			http.NotFound(w, r)
			return
		}
		reply := `{"result": "done"}`
		if r.URL.Path == "/plan.yaml" {
			reply = `{"steps": ["look"]}`
		}
		fmt.Fprintf(w, "apiVersion: pex/v1\nkind: Agent\nmetadata: {name: published}\nllms: {main: {provider: scripted, options: {replies: [{text: '%s'}]}}}\n%s",
			reply, strings.ReplaceAll(rest, "COUNT", strconv.FormatInt(count.Add(1), 10)))
	}))
	s.Config.ErrorLog = log.New(io.Discard, "", 0) // TLS errors of a client that does not trust it
	t.Cleanup(s.Close)
	certificate = filepath.Join(t.TempDir(), "ca.pem")
	b := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw})
	if err := os.WriteFile(certificate, b, 0o600); err != nil {
		t.Fatal(err)
	}
	return s.URL, certificate
}
