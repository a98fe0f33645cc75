package apitest_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	mcpserve "github.com/pexctl/pex/providers/mcp/serve"
	"github.com/pexctl/pex/server"
	"github.com/pexctl/pex/server/manager"
	"github.com/pexctl/pex/server/mcp"
)

// mcpRoute returns the paths of the Model Context Protocol, as pexctl serve has them.
func (w *world) mcpRoute() server.Route {
	backend := mcp.New(w.access)
	s := mcpserve.New(mcpserve.Options{Agents: backend, Runs: backend, Wait: 10 * time.Second, User: mcp.User})
	return server.Route{Paths: []string{mcp.Path}, Handler: mcp.Limit(w.access, 1<<20, s.Handler()), Form: mcp.Form()}
}

// mcp sends a request of protocol 2026-07-28. capabilities are those of the client.
func (l *listening) mcp(client, method, params, capabilities string) answer {
	l.t.Helper()
	meta := `"_meta": {"io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientInfo": {"name": "t", "version": "1"}, ` +
		`"io.modelcontextprotocol/clientCapabilities": {` + capabilities + `}}`
	name, _, _ := strings.Cut(strings.TrimPrefix(params, `"name": "`), `"`)
	if uri, ok := strings.CutPrefix(params, `"uri": "`); ok {
		name, _, _ = strings.Cut(uri, `"`)
	}
	body := fmt.Sprintf(`{"jsonrpc": "2.0", "id": 1, "method": %q, "params": {%s%s}}`, method, params, meta)
	a := l.send(client, http.MethodPost, mcp.Path, strings.NewReader(body), "Content-Type", "application/json", "Accept", "application/json, text/event-stream",
		"Mcp-Protocol-Version", "2026-07-28", "Mcp-Method", method, "Mcp-Name", name)
	if _, data, ok := strings.Cut(a.body, "data: "); ok {
		a.body = data
	}
	return a
}

func (l *listening) mcpTool(client, name, arguments string) answer {
	l.t.Helper()
	return l.mcp(client, "tools/call", fmt.Sprintf(`"name": %q, "arguments": {%s}, `, name, arguments), "")
}

// wants checks that a response contains texts.
func (l *listening) wants(a answer, status int, texts ...string) {
	l.t.Helper()
	for _, text := range texts {
		if a.StatusCode != status || !strings.Contains(a.body, text) {
			l.t.Errorf("%d, want %d with %s: %s", a.StatusCode, status, text, a.body)
		}
	}
}

func TestMCPToolsAreTheAgentsOfTheClient(t *testing.T) {
	l := listen(t, "bad-input", roomy, server.Options{}, unchanged)
	l.wants(l.mcp("ann", "tools/list", "", ""), 200, `"name":"hello"`, `"name":"run_get"`)
	if a := l.mcp("vic", "tools/list", "", ""); strings.Contains(a.body, `"name":"hello"`) {
		t.Error(a.body)
	}
	l.wants(l.mcpTool("ann", "hello", `"question": "hi"`), 200, `"pexctl.dev/status":"completed"`)
	l.wants(l.mcpTool("ann", "hello", `"question": "hi", "amount": "much"`), 200, "amount", `"isError":true`)
	l.wants(l.mcpTool("vic", "hello", `"question": "hi"`), 400, `"error":{"code":-32602,"message":"this needs the role run"}`)
	l.wants(l.mcpTool("ann", "nobody", ""), 400, `"error":{"code":-32602,"message":"no agent \"nobody\"; GET /v1/agents lists the agents"}`)
	if n := l.streams.Len(); n != 0 {
		t.Errorf("%d streams are open", n)
	}
}

// The agents of a tenant are tools of its clients only.
func TestMCPToolsOfATenant(t *testing.T) {
	l := listen(t, "bad-input", roomy, server.Options{}, unchanged)
	hello, _ := l.agents.Get("hello")
	private, set := *hello, l.agents.Tenant()
	private.Name = "private"
	set.Add(&private)
	l.tenants["other"].Agents = set
	l.wants(l.mcp("eve", "tools/list", "", ""), 200, `"name":"private"`, `"name":"hello"`)
	l.wants(l.mcpTool("eve", "private", `"question": "hi"`), 200, `"pexctl.dev/status":"completed"`)
	if a := l.mcp("ann", "tools/list", "", ""); strings.Contains(a.body, `"name":"private"`) {
		t.Error(a.body)
	}
	l.wants(l.mcpTool("ann", "private", `"question": "hi"`), 400, `no agent \"private\"`)
}

// A question of a run that a client started is answered by another one, also once the run is
// parked; a client of another tenant sees neither.
func TestMCPQuestionsAreAnsweredByAnyClient(t *testing.T) {
	for name, change := range map[string]func(*manager.Options){
		"parked": unchanged, "live": func(o *manager.Options) { o.ParkAfter = time.Hour },
	} {
		l := listen(t, "bad-input", roomy, server.Options{}, change)
		const call = `"name": "desk", "arguments": {"question": "hi"}, `
		l.wants(l.mcp("ann", "tools/call", call, `"elicitation": {}`), 200, "waits for the decision of someone who may approve")
		a := l.mcp("root", "tools/call", call, `"elicitation": {}`)
		l.wants(a, 200, `"resultType":"input_required"`, "step.s1/turn.1/tool.0.approval")
		_, run, _ := strings.Cut(a.body, `"pexctl.dev/run_id":"`)
		run, _, _ = strings.Cut(run, `"`)
		_, state, _ := strings.Cut(a.body, `"requestState":"`)
		state, _, _ = strings.Cut(state, `"`)
		of := fmt.Sprintf(`"run": %q`, run)
		l.wants(l.mcpTool("ann", "run_answer", of+`, "answer": "approve"`), 200, "this needs the role approve", `"isError":true`)
		l.wants(l.mcpTool("eve", "run_get", of), 200, "no run", `"isError":true`)
		l.wants(l.mcp("eve", "resources/read", fmt.Sprintf(`"uri": "run://%s", `, run), ""), 400, "Resource not found")
		l.wants(l.mcp("ann", "resources/read", fmt.Sprintf(`"uri": "run://%s", `, run), ""), 200, `\"interrupts\": [`)
		l.wants(l.mcpTool("bea", "run_answer", of+`, "answer": "approve"`), 200, `"pexctl.dev/status":"completed"`)
		l.wants(l.mcp("root", "tools/call", fmt.Sprintf(`"name": "desk", "requestState": %q, "inputResponses": {}, `, state), `"elicitation": {}`), 200, `"pexctl.dev/status":"completed"`)
		if t.Failed() {
			t.Log(name)
		}
	}
}

func TestMCPBadRequestsStartNothing(t *testing.T) {
	l := listen(t, "bad-input", roomy, server.Options{Limits: server.Limits{Body: 2 << 20}}, unchanged)
	send := func(client, body string) answer {
		return l.send(client, http.MethodPost, mcp.Path, strings.NewReader(body), "Content-Type", "application/json", "Accept", "application/json, text/event-stream")
	}
	large := `{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "hello", "arguments": {"question": "` + strings.Repeat("x", 3<<20) + `"}}}`
	l.wants(send("ann", large), 413, `{"jsonrpc":"2.0","id":null,"error":{"code":-32600,`, `"code":"too_large"`)
	l.wants(send("ann", large[:len(large)-(3<<19)]), 413, `"code":"too_large"`)
	l.wants(send("ann", `{"jsonrpc": "2.0", "id": 1, "id": 2}`), 400, `{"jsonrpc":"2.0","id":null,"error":{"code":-32700,`, `duplicate key`)
	l.wants(send("ann", `{"jsonrpc": "2.0", "id": {}, "method": "tools/list"}`), 400, "malformed payload")
	l.wants(send("", `{"jsonrpc": "2.0", "id": 1, "method": "tools/list"}`), 401, `"code":"unauthorized"`)
	l.wants(l.get("ann", mcp.Path), 400, "Accept")
	if a := l.get("root", "/v1/runs"); a.member("runs") != "[]" {
		t.Error(a.body)
	}
}

// A call takes at most 2 ms longer than a request to the API that waits for the result.
func BenchmarkMCPCall(b *testing.B) {
	l := listen(b, "bad-input", manager.Limits{Running: 8}, server.Options{}, unchanged)
	for name, call := range map[string]func() answer{
		"api": func() answer { return l.post("ann", "hello", `{"question": "hi"}`, "Prefer", "wait=60") },
		"mcp": func() answer { return l.mcpTool("ann", "hello", `"question": "hi"`) },
	} {
		b.Run(name, func(b *testing.B) {
			var took []time.Duration
			for b.Loop() {
				began := time.Now()
				if a := call(); a.StatusCode != http.StatusOK || !strings.Contains(a.body, "completed") {
					b.Fatal(a.body)
				}
				took = append(took, time.Since(began))
			}
			slices.Sort(took)
			b.ReportMetric(float64(took[len(took)/2].Microseconds()), "p50-µs")
		})
	}
}
