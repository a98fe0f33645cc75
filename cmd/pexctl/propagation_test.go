//go:build unix

package main

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"

	otlp "go.opentelemetry.io/proto/otlp/trace/v1"

	"github.com/pexctl/pex/engine/goldentest"
	"github.com/pexctl/pex/engine/tracecontext"
	"github.com/pexctl/pex/internal/oteltest"
)

// callee is a model, a tool and an MCP server over HTTP. It notes the traces that requests carry.
type callee struct {
	*httptest.Server
	mu     sync.Mutex
	traces map[string]tracecontext.Caller
}

func newCallee(t *testing.T) *callee {
	c := &callee{traces: map[string]tracecontext.Caller{}}
	c.Server = httptest.NewServer(http.HandlerFunc(c.serve))
	t.Cleanup(c.Close)
	return c
}

func (c *callee) note(name string, trace tracecontext.Caller) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if trace.Parent != "" {
		c.traces[name] = trace
	}
}

func (c *callee) serve(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	sent := tracecontext.FromHeader(r.Header)
	switch r.URL.Path {
	case "/v1/chat/completions":
		c.note("chat m", sent)
		_, _ = io.WriteString(w, `{"id":"c1","model":"m-1","choices":[{"index":0,"finish_reason":"stop","message":{"role":"assistant","content":"{\"steps\": [], \"result\": \"done\"}"}}],`+
			`"usage":{"prompt_tokens":3,"completion_tokens":2,"total_tokens":5}}`)
	case "/v1/embeddings":
		c.note("embeddings v", sent)
		var body struct{ Input []string }
		vectors := []any{}
		if json.NewDecoder(r.Body).Decode(&body) == nil {
			for i := range body.Input {
				vectors = append(vectors, map[string]any{"object": "embedding", "index": i, "embedding": []float64{1, float64(i), 0}})
			}
		}
		_ = json.NewEncoder(w).Encode(map[string]any{"data": vectors, "model": "v", "usage": map[string]int{"prompt_tokens": 7, "total_tokens": 7}})
	case "/item":
		c.note("execute_tool fetch", sent)
		_, _ = io.WriteString(w, `{"found": true}`)
	case "/mcp":
		c.serveMCP(w, r, sent)
	}
}

func (c *callee) serveMCP(w http.ResponseWriter, r *http.Request, sent tracecontext.Caller) {
	var q struct {
		ID     json.RawMessage `json:"id"`
		Method string          `json:"method"`
		Params struct {
			Version string         `json:"protocolVersion"`
			Name    string         `json:"name"`
			Meta    map[string]any `json:"_meta"`
		} `json:"params"`
	}
	if r.Method != http.MethodPost {
		w.WriteHeader(http.StatusMethodNotAllowed)
		return
	}
	if json.NewDecoder(r.Body).Decode(&q) != nil || q.ID == nil {
		w.WriteHeader(http.StatusAccepted)
		return
	}
	result := `{}`
	switch q.Method {
	case "initialize":
		w.Header().Set("Mcp-Session-Id", "session-1")
		result = fmt.Sprintf(`{"protocolVersion": %q, "capabilities": {"tools": {}}, "serverInfo": {"name": "callee", "version": "1"}}`, q.Params.Version)
	case "tools/list":
		result = `{"tools": [{"name": "look", "inputSchema": {"type": "object"}}, {"name": "fail", "inputSchema": {"type": "object"}}]}`
	case "tools/call":
		inMeta := tracecontext.ParseCaller(fmt.Sprint(q.Params.Meta["traceparent"]), fmt.Sprint(q.Params.Meta["tracestate"]))
		c.note("tools/call "+q.Params.Name, inMeta)
		c.note("tools/call "+q.Params.Name+" by header", sent)
		result = fmt.Sprintf(`{"content": [{"type": "text", "text": "looked"}], "isError": %t}`, q.Params.Name == "fail")
	}
	fmt.Fprintf(w, `{"jsonrpc": "2.0", "id": %s, "result": %s}`, q.ID, result)
}

// outgoingSpec calls every kind of callee.
const outgoingSpec = `apiVersion: pex/v1
kind: Agent
metadata: {name: outgoing}
llms:
  main:
    provider: scripted
    options:
      replies:
        - {role: planner, text: '{"steps": ["a"], "result": ""}'}
        - {role: executor, when: 'call == 1', tool_calls: [{name: fetch, arguments: {}}]}
        - {role: executor, when: 'call == 2', tool_calls: [{name: env, arguments: {}}]}
        - {role: executor, when: 'call == 3', tool_calls: [{name: web__look, arguments: {}}]}
        - {role: executor, when: 'call == 4', tool_calls: [{name: web__fail, arguments: {}}]}
        - {role: executor, when: 'call == 5', tool_calls: [{name: child__read, arguments: {}}]}
        - {role: executor, when: 'call == 6', tool_calls: [{name: notes, arguments: {query: refund}}]}
        - {role: executor, when: 'call == 7', text: ok}
  live: {provider: openai, model: m, base_url: URL/v1}
  vectors: {provider: openai, model: v, base_url: URL/v1, cost: {input: 1, output: 0}}
planner: {llm: main}
executor: {llm: main}
reflector: {llm: live}
tools:
  fetch: {type: http, description: d, url: URL/item, approval: APPROVAL}
  env: {type: command, effect: read, description: d, argv: [sh, -c, 'echo "$TRACEPARENT|$TRACESTATE" > env.txt']}
  web: {type: mcp, url: URL/mcp, effect: read, approval: never}
  notes: {type: retrieve, root: notes, embeddings: {llm: vectors}}
  child: {type: mcp, command: [./toolserver, tools.json], effect: read, approval: never}
memory: {backend: none}
`

// outgoingRun runs outgoingSpec, and returns the traces that its callees received.
func outgoingRun(t *testing.T, approval string) map[string]tracecontext.Caller {
	t.Helper()
	dir := t.TempDir()
	t.Chdir(dir)
	t.Setenv("PEX_HOME", t.TempDir())
	c := newCallee(t)
	self, err := os.Executable()
	if err == nil {
		err = errors.Join(os.Symlink(self, filepath.Join(dir, "toolserver")), os.Mkdir("notes", 0o700))
	}
	spec := strings.NewReplacer("URL", c.URL, "APPROVAL", approval).Replace(outgoingSpec)
	for name, text := range map[string]string{"spec.yaml": spec, "tools.json": `[{"name": "read", "inputSchema": {"type": "object"}}]`, "notes/a.md": "Refunds take a week.\n"} {
		if err == nil {
			err = os.WriteFile(name, []byte(text), 0o600)
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	pex := func(want int, args ...string) {
		var out bytes.Buffer
		if code := run(args, streams{strings.NewReader(""), &out, &out}); code != want {
			t.Fatalf("%v: exit %d: %s", args, code, out.String())
		}
	}
	if approval == "always" {
		pex(5, "run", "spec.yaml", "q", "--run-id", "r", "-q")
		if _, ok := c.traces["execute_tool fetch"]; ok {
			t.Errorf("called before the approval: %v", c.traces)
		}
		pex(0, "resume", "r", "--answer", "approve", "-q")
	} else {
		pex(0, "run", "spec.yaml", "q", "--run-id", "r", "-q")
	}
	if env, err := os.ReadFile("env.txt"); err == nil {
		parent, state, _ := strings.Cut(strings.TrimSpace(string(env)), "|")
		c.note("execute_tool env", tracecontext.ParseCaller(parent, state))
	}
	if meta, err := os.ReadFile("tools.json.meta"); err == nil {
		var m map[string]string
		_ = json.Unmarshal(meta, &m)
		c.note("tools/call read", tracecontext.ParseCaller(m["traceparent"], m["tracestate"]))
	}
	return c.traces
}

// measured are attributes whose values differ from run to run.
var measured = regexp.MustCompile(`\n *(server\.port|pex\.latency_ms|pex\.first_token_ms|gen_ai\.response\.time_to_first_chunk)=[^\n]*`)

// callees are the spans whose callees note their trace.
var callees = []string{"chat m", "execute_tool fetch", "execute_tool env", "tools/call look", "tools/call fail", "tools/call read", "embeddings v"}

// What a run calls receives the id of the span that is exported, also in later sessions.
func TestCalleesReceiveTheSpan(t *testing.T) {
	const caller = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
	for _, tt := range []struct{ name, approval, caller, state, golden string }{
		{"run", "never", "", "", "released"},
		{"run with the latest names", "never", "", "", "latest"},
		{"resumed run", "always", "", "", ""},
		{"run of a caller", "never", caller, "congo=t61", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			collector := oteltest.New(t)
			t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", collector.URL)
			t.Setenv(tracecontext.Variable, tt.caller)
			t.Setenv(tracecontext.StateVariable, tt.state)
			if tt.golden == "latest" {
				t.Setenv("OTEL_SEMCONV_STABILITY_OPT_IN", "gen_ai_latest_experimental")
			}
			var traces map[string]tracecontext.Caller
			t.Run("calls", func(t *testing.T) { traces = outgoingRun(t, tt.approval) })
			spans := map[string]*otlp.Span{}
			all := collector.Spans()
			for _, s := range all {
				spans[s.Name] = s
			}
			for _, name := range callees {
				s := spans[name]
				if s == nil {
					t.Errorf("no span %s", name)
					continue
				}
				want := tracecontext.Caller{Parent: "00-" + hex.EncodeToString(s.TraceId) + "-" + hex.EncodeToString(s.SpanId) + "-01", State: tt.state}
				if got := traces[name]; got != want {
					t.Errorf("%s received %v, want %v", name, got, want)
				}
				if byHeader, ok := traces[name+" by header"]; ok && byHeader != want {
					t.Errorf("%s received %v by header, want %v", name, byHeader, want)
				}
				if tt.state != s.TraceState {
					t.Errorf("%s has trace state %q", name, s.TraceState)
				}
			}
			if tt.golden != "" {
				goldentest.File(t, "telemetry/outgoing."+tt.golden+".golden", measured.ReplaceAllString(oteltest.Tree(t, all), ""))
			}
		})
	}
}

// A run that is not exported passes on the trace of its caller, and starts none.
func TestCalleesReceiveTheCaller(t *testing.T) {
	const caller = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
	t.Run("none", func(t *testing.T) {
		if traces := outgoingRun(t, "never"); len(traces) > 0 {
			t.Errorf("%v", traces)
		}
	})
	t.Run("invalid", func(t *testing.T) {
		t.Setenv(tracecontext.Variable, caller+"\r\nX-Injected: 1")
		t.Setenv(tracecontext.StateVariable, "a=b")
		if traces := outgoingRun(t, "never"); len(traces) > 0 {
			t.Errorf("%v", traces)
		}
	})
	t.Run("unchanged", func(t *testing.T) {
		t.Setenv(tracecontext.Variable, caller)
		t.Setenv(tracecontext.StateVariable, "a=b, c=d")
		traces := outgoingRun(t, "never")
		for _, name := range callees {
			if want := (tracecontext.Caller{Parent: caller, State: "a=b,c=d"}); traces[name] != want {
				t.Errorf("%s received %v", name, traces[name])
			}
		}
	})
	t.Run("not sampled", func(t *testing.T) {
		t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", oteltest.New(t).URL)
		t.Setenv("OTEL_TRACES_SAMPLER", "always_off")
		traces := outgoingRun(t, "never")
		for _, name := range callees {
			if p, ok := tracecontext.Parse(traces[name].Parent); !ok || p.Sampled {
				t.Errorf("%s received %v", name, traces[name])
			}
		}
	})
}
