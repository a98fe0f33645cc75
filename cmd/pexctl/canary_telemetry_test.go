//go:build unix

package main

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/pexctl/pex/internal/syncbuffer"
)

// contents are texts of a run that are not secrets, but that no log has, and no export without
// the opt-in. The model's are those of the arguments and replies.
var contents = map[string]string{
	"prompt": "c0ntent-prompt", "question": "c0ntent-question", "parameter": "c0ntent-parameter", "model": "c0ntent-model", "answer": "c0ntent-answer",
	"file": "c0ntent-file", "message": "c0ntent-message", "result": "c0ntent-result", "query": "c0ntent-query", "header": "c0ntent-header", "body": "c0ntent-body",
}

const telemetrySpec = `
parameters: {topic: {type: string, default: none}}
planner: {llm: main, system_prompt: "plan for c0ntent-prompt and ${parameters.topic}"}
`

// recorder receives OTLP of all signals, and stores it.
func recorder(t *testing.T) (address string, received *syncbuffer.Buffer) {
	t.Helper()
	received = &syncbuffer.Buffer{}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var body io.Reader = r.Body
		if r.Header.Get("Content-Encoding") == "gzip" {
			z, err := gzip.NewReader(r.Body)
			if err != nil {
				t.Error(err)
				return
			}
			body = z
		}
		fmt.Fprintf(received, "\n%s %s\n", r.URL.Path, r.Header.Get("Content-Type"))
		_, _ = io.Copy(received, body)
		w.Header().Set("Content-Type", "application/x-protobuf")
	}))
	t.Cleanup(s.Close)
	return s.URL, received
}

// served is a server process.
type served struct {
	t      *testing.T
	url    string
	output syncbuffer.Buffer
	stop   func()
}

// serveWith starts pexctl serve with arguments and variables.
func serveWith(t *testing.T, args []string, variables ...string) *served {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	s := &served{t: t}
	cmd := exec.Command(self, append([]string{"serve", "--listen", "127.0.0.1:0"}, args...)...)
	cmd.Env, cmd.Stderr = append(append(os.Environ(), pexctlEnv()...), variables...), &s.output
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() {
		_ = cmd.Wait() // its output says why
		close(ended)
	}()
	s.stop = func() {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		<-ended
	}
	t.Cleanup(s.stop)
	for s.url == "" {
		if m := regexp.MustCompile(`(?m)^Serving .* on (http://\S+)$`).FindStringSubmatch(s.output.String()); m != nil {
			s.url = m[1]
		}
		select {
		case <-ended:
			t.Fatal(s.output.String())
		case <-time.After(10 * time.Millisecond):
		}
	}
	return s
}

// send sends a request with content in its headers, and returns the status of the response.
func (s *served) send(method, path, body string, into any) (status int) {
	s.t.Helper()
	req, err := http.NewRequestWithContext(s.t.Context(), method, s.url+path, strings.NewReader(body))
	if err != nil {
		s.t.Fatal(err)
	}
	req.Header = http.Header{
		"Content-Type": {"application/json"}, "Prefer": {"wait=60"}, "X-Note": {"c0ntent-header"}, "Authorization": {"Bearer c0ntent-header"},
		"Traceparent": {"00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"},
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		s.t.Fatal(err)
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	if err != nil || into != nil && json.Unmarshal(b, into) != nil {
		s.t.Fatal(err, string(b))
	}
	return res.StatusCode
}

// text returns the body of a response to GET.
func (s *served) text(path string) string {
	s.t.Helper()
	res, err := http.Get(s.url + path)
	if err != nil {
		s.t.Fatal(err)
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	if err != nil || res.StatusCode != http.StatusOK {
		s.t.Fatal(res.Status, err, string(b))
	}
	return string(b)
}

// converse makes runs with all contents, a question with each decision, a file and a message, and
// requests that are rejected.
func (s *served) converse(c *cage) {
	s.t.Helper()
	var file struct{ SHA256 string }
	s.send("POST", "/v1/artifacts", "c0ntent-file", &file)
	type result struct {
		Status     string
		Interrupts []struct{ Path string }
	}
	for i, decision := range []string{`"do": "approve"`, `"do": "deny", "reason": "c0ntent-answer"`} {
		c.server.answers("")
		run := fmt.Sprint("canary-", i)
		var got result
		s.send("POST", "/v1/agents/canary/runs", fmt.Sprintf(`{"run_id": %q, "question": "c0ntent-question", "memory_id": "m", "parameters": {"topic": "c0ntent-parameter"}, "files": [{"name": "a.txt", "artifact": %q}]}`, run, file.SHA256), &got)
		if len(got.Interrupts) != 1 {
			s.t.Fatalf("%+v\n%s", got, s.output.String())
		}
		s.send("POST", "/v1/runs/"+run+"/messages", `{"id": "m1", "text": "c0ntent-message"}`, nil)
		s.send("POST", "/v1/runs/"+run+"/answers", fmt.Sprintf(`{"path": %q, %s}`, got.Interrupts[0].Path, decision), nil)
		s.send("GET", "/v1/runs/"+run+"/events", "", nil)
		if s.send("GET", "/v1/runs/"+run, "", &got); got.Status != "completed" {
			s.t.Errorf("%s: %+v", run, got)
		}
	}
	for _, how := range []string{"500", "text", "garbage"} {
		c.server.answers(how)
		s.send("POST", "/v1/agents/canary/runs", `{"question": "c0ntent-question"}`, nil)
	}
	for path, body := range map[string]string{
		"/v1/agents/canary/runs":             `{"question": "c0ntent-body`,
		"/v1/agents/canary/runs/":            `{"question": "c0ntent-body"}`,
		"/v1/runs/canary-0/fork":             `{"prompts": {"planner.system_prompt": "c0ntent-prompt ${c0ntent-body"}}`,
		"/v1/runs/canary-0/resume":           `{"set": ["limits.max_steps=c0ntent-body"]}`,
		"/a2a/canary":                        `{"jsonrpc": "2.0", "id": 1, "method": "message/send", "params": {"message": "c0ntent-body"}}`,
		"/openai/v1/chat/completions":        `{"model": "canary", "messages": [{"role": "user", "content": ["c0ntent-body"]}]}`,
		"/agui/canary":                       `{"threadId": "c0ntent-body"}`,
		"/mcp":                               `{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "c0ntent-body"}}`,
		"/_plugins/_ml/agents/none/_execute": `{"parameters": {"question": "c0ntent-body"}}`,
	} {
		s.send("POST", path, body, nil)
		s.send("POST", path+"?x=c0ntent-query", body, nil)
	}
	s.send("GET", "/v1/runs?q=c0ntent-query&limit=c0ntent-query", "", nil)
}

// Logs and exports of runs with secrets and content have none of them. With content by opt-in,
// they still have no secrets.
func TestTelemetryHasNeitherSecretsNorContent(t *testing.T) {
	for _, tt := range []struct {
		name      string
		variables []string
		isOptIn   bool
	}{
		{name: "by default"},
		{name: "latest", variables: []string{"OTEL_SEMCONV_STABILITY_OPT_IN=gen_ai_latest_experimental"}},
		{name: "content by opt-in", variables: []string{"OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT=SPAN_ONLY"}, isOptIn: true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := newCage(t)
			c.server.says += contents["model"]
			spec := strings.Replace(canarySpec(models["openai"]+", api_key_env: CANARY_KEY", retryOnce), "    effect: read\n", "    effect: write\n    approval: always\n", 1)
			spec, _, _ = strings.Cut(strings.Replace(spec, `"%s and %s"`, `"c0ntent-result %s and %s"`, 1), "tests:")
			c.write("spec/spec.yaml", spec+"  read_file: {root: .}\n"+strings.TrimPrefix(telemetrySpec, "\n"))
			address, exported := recorder(t)
			s := serveWith(t, []string{"spec", "--log-format", "json"}, append(tt.variables, "OTEL_EXPORTER_OTLP_ENDPOINT="+address, "OTEL_EXPORTER_OTLP_HEADERS=authorization=Bearer%20c0ntent-header")...)
			s.converse(c)
			metrics := s.text("/metrics")
			s.stop()
			log := s.output.String()
			nothingOf(t, "the metrics", metrics)
			nothingOf(t, "the log", log)
			nothingOf(t, "the export", exported.String())
			if !strings.Contains(exported.String(), "/v1/traces") || !strings.Contains(exported.String(), "execute_tool tell") || !strings.Contains(exported.String(), "pex.ask approval") {
				t.Error("nothing was exported: the test tests nothing")
			}
			for what, text := range contents {
				if strings.Contains(log, text) {
					t.Errorf("the log has the %s:\n%s", what, linesWith(log, text))
				}
				if strings.Contains(metrics, text) {
					t.Errorf("the metrics have the %s:\n%s", what, linesWith(metrics, text))
				}
				if !tt.isOptIn && strings.Contains(exported.String(), text) {
					t.Errorf("the export has the %s", what)
				}
				if tt.isOptIn && !strings.Contains(exported.String(), text) && strings.Contains("prompt question parameter model message result", what) {
					t.Errorf("the export does not have the %s", what)
				}
				if !c.server.received(text) && strings.Contains("prompt question parameter message answer", what) {
					t.Errorf("the model did not receive the %s: the test tests nothing", what)
				}
			}
			checkLines(t, log)
		})
	}
}

func linesWith(log, text string) string {
	var out []string
	for line := range strings.Lines(log) {
		if strings.Contains(line, text) {
			out = append(out, line)
		}
	}
	return strings.Join(out, "")
}

// checkLines checks that lines are JSON, and that those about a run or the request that started it
// have its trace.
func checkLines(t *testing.T, log string) {
	t.Helper()
	counts := map[string]int{}
	for line := range strings.Lines(log) {
		if !strings.HasPrefix(line, "{") {
			continue // what the command says before it serves
		}
		var v map[string]any
		if err := json.NewDecoder(bytes.NewReader([]byte(line))).Decode(&v); err != nil {
			t.Errorf("%v: %s", err, line)
		}
		message, _ := v["msg"].(string)
		counts[message]++
		if run, ok := v["run_id"].(string); ok || strings.HasPrefix(message, "run ") {
			counts["with run"]++
			if v["tenant"] != "shared" || v["trace_id"] != "0af7651916cd43dd8448eb211c80319c" || len(fmt.Sprint(v["span_id"])) != 16 || run == "" {
				t.Error(line)
			}
		}
	}
	for _, message := range []string{"request", "run started", "run waits for an answer", "run ended"} {
		if counts[message] < 2 {
			t.Errorf("%d lines %q:\n%s", counts[message], message, log)
		}
	}
}
