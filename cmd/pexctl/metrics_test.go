//go:build unix

package main

import (
	"crypto/sha256"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/pexctl/pex/internal/syncbuffer"
)

const metricsSpec = `apiVersion: pex/v1
kind: Agent
metadata: {name: desk}
llms:
  main:
    provider: scripted
    options:
      replies:
        - {role: planner, text: '{"steps": ["a"], "result": ""}'}
        - {role: executor, when: 'call == 1', tool_calls: [{name: w, arguments: {}}]}
        - {role: executor, text: ok}
        - {role: reflector, text: '{"steps": [], "result": "done"}'}
tools: {w: {type: command, effect: write, approval: always, description: w, argv: [sh, -c, 'true'], input_schema: {type: object}}}
memory: {backend: none}
`

const metricsServer = `apiVersion: pex/v1
kind: Server
agents: {desk: {spec: spec.yaml}}
auth: {tokens: {file: tokens.yaml}}
tenants: {known: [shared, acme]}
metrics: {roles: [monitoring], tenants: true}
park_after: 0s
`

// serveMetrics starts a server whose tokens are the names of their roles, or the name and "-acme".
func serveMetrics(t *testing.T) (url string) {
	t.Helper()
	dir := t.TempDir()
	tokens := "apiVersion: pex/v1\nkind: Tokens\ntokens:\n"
	for _, name := range []string{"admin", "run", "view", "approve", "monitoring", "admin-acme", "monitoring-acme", "run-acme"} {
		role, tenant, _ := strings.Cut(name, "-")
		if tenant == "" {
			tenant = "shared"
		}
		tokens += fmt.Sprintf("  - {name: %s, sha256: %x, roles: [%s], tenant: %s}\n", name, sha256.Sum256([]byte("pex_"+name)), role, tenant)
	}
	for name, text := range map[string]string{"spec.yaml": metricsSpec, "server.yaml": metricsServer, "tokens.yaml": tokens} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	var output syncbuffer.Buffer
	cmd := exec.Command(self, "serve", "server.yaml", "--listen", "127.0.0.1:0", "--home", t.TempDir())
	cmd.Env, cmd.Dir, cmd.Stderr = append(os.Environ(), pexctlEnv()...), dir, &output
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		_ = cmd.Wait() // its status is that of the signal
		if t.Failed() {
			t.Log(output.String())
		}
	})
	for deadline := time.Now().Add(30 * time.Second); time.Now().Before(deadline); time.Sleep(10 * time.Millisecond) {
		if m := regexp.MustCompile(`(?m)^Serving .* on (http://\S+)$`).FindStringSubmatch(output.String()); m != nil {
			return m[1]
		}
	}
	t.Fatal(output.String())
	return ""
}

// request returns the status and the body of a response.
func request(t *testing.T, method, url, token, body string) (int, string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	if token != "" {
		r.Header.Set("Authorization", "Bearer pex_"+token)
	}
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res.StatusCode, string(b)
}

// The metrics of all tenants are for admins and configured roles of the default tenant, and for
// no one else.
func TestWhoMayScrape(t *testing.T) {
	url := serveMetrics(t)
	for token, want := range map[string]int{
		"admin": 200, "monitoring": 200, "": 401, "wrong": 401, "run": 403, "view": 403, "approve": 403, "admin-acme": 403, "monitoring-acme": 403,
	} {
		if status, body := request(t, "GET", url+"/metrics", token, ""); status != want || (want == 200) != strings.Contains(body, "# TYPE") {
			t.Errorf("%s: %d %s", token, status, body)
		}
	}
	if status, body := request(t, "POST", url+"/metrics", "admin", ""); status != 405 {
		t.Error(status, body)
	}
	if status, body := request(t, "GET", url+"/v1/runs", "monitoring", ""); status != 200 || strings.Contains(body, "run_id") {
		t.Error("the role for metrics may read runs:", status, body)
	}
}

// A scrape shows what runs do: those that wait in memory or on disk, those that ended, and requests.
func TestMetricsOfAServer(t *testing.T) {
	url := serveMetrics(t)
	scrape := func() string {
		status, body := request(t, "GET", url+"/metrics", "monitoring", "")
		if status != 200 {
			t.Fatal(status, body)
		}
		return body
	}
	shows := func(want string) {
		t.Helper()
		body := ""
		for deadline := time.Now().Add(20 * time.Second); time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
			if body = scrape(); strings.Contains(body, want) {
				return
			}
		}
		t.Fatalf("no %s in\n%s", want, body)
	}
	for run, token := range map[string]string{"r-1": "run", "r-2": "run-acme"} {
		if status, body := request(t, "POST", url+"/v1/agents/desk/runs", token, `{"run_id": "`+run+`", "parameters": {"question": "q"}}`); status != 201 {
			t.Fatal(status, body)
		}
	}
	shows(`pex_questions_open{tenant="shared"} 1`)
	shows(`pex_questions_open{tenant="acme"} 1`)
	shows(`pex_runs_active{tenant="shared"} 0`) // it is parked
	if status, body := request(t, "POST", url+"/v1/runs/r-1/answers", "approve", `{"path": "step.s1/turn.1/tool.0.approval", "do": "approve"}`); status != 200 && status != 202 {
		t.Fatal(status, body)
	}
	shows(`pex_runs_total{agent="desk",status="completed",stop_reason="answered",tenant="shared"} 1`)
	shows(`pex_questions_open{tenant="shared"} 0`)
	for _, want := range []string{
		`gen_ai_client_operation_duration_seconds_count{gen_ai_operation_name="chat",gen_ai_provider_name="scripted",gen_ai_request_model="main"} 6`,
		`pex_tool_calls_total{status="ok",tool="w"} 1`, `pex_question_wait_seconds_count 1`, `pex_steps_total{status="ok"} 1`,
		`http_server_request_duration_seconds_count{http_request_method="POST",http_response_status_code="201",http_route="/v1/agents/{agent}/runs"} 2`,
		`pex_feed_watchers{tenant="acme"} 0`, `pex_runs_queued{tenant="acme"} 0`,
	} {
		shows(want)
	}
	if body := scrape(); strings.Contains(body, "r-1") || strings.Contains(body, "/metrics") || strings.Contains(body, "pex_journal_commit_duration_seconds_count 0") {
		t.Error(body)
	}
}
