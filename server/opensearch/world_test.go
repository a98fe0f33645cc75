package opensearch_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/pexctl/pex/engine/stop"
	"github.com/pexctl/pex/internal/accesstest"
	"github.com/pexctl/pex/internal/chatserver"
	"github.com/pexctl/pex/server/opensearch"
	"github.com/pexctl/pex/server/problem"
	"github.com/pexctl/pex/server/registry"
)

// world is the API, with a model server, and the exchanges so far.
type world struct {
	*accesstest.World
	t       testing.TB
	handler http.Handler
	form    problem.Form
	model   *chatserver.Server
	tenants map[string]*registry.Registry
	policy  registry.Policy
	ids     map[string]string // of the latest responses, by name
	log     strings.Builder
}

// reply answers as a model does: a plan of one step, its result, and the answer.
func reply(prompt string) string {
	switch {
	case strings.Contains(prompt, "If you cannot finish, report what you have"):
		return "There are 17 docs."
	case strings.Contains(prompt, "There are 17 docs."):
		return `{"steps": [], "result": "The cluster has 17 docs."}`
	}
	return `{"steps": ["Count the docs"], "result": ""}`
}

func newWorld(t testing.TB) *world {
	t.Helper()
	for _, name := range []string{"OPENAI_KEY", "OPENSEARCH_USER", "OPENSEARCH_PASSWORD"} {
		t.Setenv(name, "not-a-secret")
	}
	t.Setenv("OPENSEARCH_URL", "")
	specs := t.TempDir()
	for _, name := range []string{"hello", "refund-desk"} {
		if err := os.CopyFS(filepath.Join(specs, name), os.DirFS(filepath.Join("../../specs", name))); err != nil {
			t.Fatal(err)
		}
	}
	w := &world{World: accesstest.New(t, specs, accesstest.Options{}), t: t, model: chatserver.Start(t, 0, reply), ids: map[string]string{}}
	w.policy = registry.Policy{Endpoints: []string{w.model.URL}, Env: []string{"OPENAI_KEY", "OPENSEARCH_URL", "OPENSEARCH_USER", "OPENSEARCH_PASSWORD"}}
	w.open()
	var paths []string
	paths, w.handler, w.form = opensearch.New(opensearch.Options{
		Access: w.Access, Registry: func(tenant string) *registry.Registry { return w.tenants[tenant] }, MaxBody: 100_000, Info: true, Version: "test",
	})
	if !slices.Contains(paths, "/_plugins/_ml/") {
		t.Error(paths)
	}
	return w
}

// open reads the registries again, as a restart does.
func (w *world) open() {
	w.t.Helper()
	w.tenants = map[string]*registry.Registry{}
	for _, name := range []string{"", "other"} {
		tenant := w.Tenant(name)
		tenant.Agents = w.Access.Agents.Tenant()
		r, err := registry.Open(registry.Options{
			Dir: filepath.Join(tenant.Home, "registered"), Agents: tenant.Agents, Policy: w.policy, Log: slog.New(slog.NewTextHandler(w.t.Output(), nil)),
		})
		if err != nil {
			w.t.Fatal(err)
		}
		w.tenants[name] = r
	}
}

// do performs a request of a client. {NAME} is an id of an earlier response.
func (w *world) do(client, method, path, body string) (status int, response string) {
	w.t.Helper()
	fill := func(s string) string {
		for name, id := range w.ids {
			s = strings.ReplaceAll(s, "{"+name+"}", id)
		}
		return strings.ReplaceAll(s, "{model}", strings.TrimSuffix(w.model.URL, "/v1"))
	}
	if !strings.HasPrefix(path, "/_plugins") && path != "/" {
		path = "/_plugins/_ml" + path
	}
	out := w.Do(w.handler, w.form, client, method, fill(path), fill(body), nil)
	fmt.Fprintf(&w.log, "=== %s: %s %s\n", client, method, path)
	if body != "" {
		w.log.WriteString(indented([]byte(body)) + "\n")
	}
	fmt.Fprintf(&w.log, "--- %d %s\n%s\n", out.Code, out.Header().Get("Content-Type"), w.normalized(out.Body.Bytes()))
	return out.Code, out.Body.String()
}

func indented(b []byte) string {
	var out bytes.Buffer
	if json.Indent(&out, b, "", "  ") != nil {
		return strings.TrimSpace(string(b))
	}
	return strings.TrimSpace(out.String())
}

var (
	instant = regexp.MustCompile(`"\d{4}-\d\d-\d\dT[0-9:.]+Z"|\b1[0-9]{12}\b`)
	runID   = regexp.MustCompile(`r-\d{8}-\d{6}-[0-9a-f]{8}`)
	newID   = regexp.MustCompile(`"[a-z2-7]{20}\b`)
	hexID   = regexp.MustCompile(`[0-9a-f]{32}`)
)

// normalized returns a response with names for its ids, which it remembers.
func (w *world) normalized(b []byte) string {
	var v any
	for line := range bytes.Lines(b) {
		if json.Unmarshal(bytes.TrimPrefix(line, []byte("data: ")), &v) == nil {
			w.remember(v)
		}
	}
	s := strings.ReplaceAll(indented(b), strings.TrimSuffix(w.model.URL, "/v1"), "MODEL")
	for _, name := range slices.Sorted(maps.Keys(w.ids)) {
		s = strings.ReplaceAll(s, w.ids[name], "<"+name+">")
	}
	s = runID.ReplaceAllString(instant.ReplaceAllString(s, "TIME"), "<run>")
	return newID.ReplaceAllString(hexID.ReplaceAllString(s, "<id>"), `"<id>`)
}

// remember stores the ids of a response.
func (w *world) remember(v any) {
	switch v := v.(type) {
	case map[string]any:
		for name, each := range v {
			id, ok := each.(string)
			if ok && slices.Contains([]string{"connector_id", "model_id", "agent_id", "task_id", "memory_id", "message_id", "parent_interaction_id"}, name) && w.ids[name] == "" && len(id) >= 20 {
				w.ids[name] = id
			}
			w.remember(each)
		}
	case []any:
		for _, each := range v {
			w.remember(each)
		}
	}
}

// want performs a request and checks its status.
func (w *world) want(status int, client, method, path, body string) string {
	w.t.Helper()
	got, response := w.do(client, method, path, body)
	if got != status {
		w.t.Errorf("%s %s: %d, want %d: %s", method, path, got, status, response)
	}
	return response
}

const (
	connector = `{"name": "OpenAI", "description": "Chat", "version": 1, "protocol": "http", "parameters": {"model": "gpt-4o"},
		"credential": {"openAI_key": "<YOUR_KEY>"},
		"actions": [{"action_type": "predict", "method": "POST", "url": "{model}/v1/chat/completions", "headers": {"Authorization": "Bearer ${credential.openAI_key}"},
		"request_body": "{ \"model\": \"${parameters.model}\", \"messages\": [{\"role\":\"user\",\"content\":\"${parameters.prompt}\"}] }"}]}`
	remote = `{"name": "My model", "function_name": "remote", "description": "test model", "connector_id": "{connector_id}"}`
	agent  = `{"name": "My agent", "type": "plan_execute_and_reflect", "description": "this is a test agent",
		"llm": {"model_id": "{model_id}", "parameters": {"prompt": "${parameters.question}"}}, "memory": {"type": "conversation_index"},
		"parameters": {"_llm_interface": "openai/v1/chat/completions"}, "tools": [{"type": "ListIndexTool"}], "app_type": "os_chat"}`
	question = `{"parameters": {"question": "How many docs?"}}`
)

// register registers a connector, a model and an agent.
func (w *world) register() {
	w.t.Helper()
	w.want(200, "root", "POST", "/connectors/_create", connector)
	w.want(200, "root", "POST", "/models/_register", remote)
	w.want(200, "root", "POST", "/agents/_register", agent)
}

// await waits for the run of the latest task.
func (w *world) await() { w.Tenant("").Manager.Await(w.t.Context(), w.ids["task_id"]) }

// cancelled waits until the run of the latest task is cancelled.
func (w *world) cancelled() {
	for w.Tenant("").Runs.Summary(w.t.Context(), w.ids["task_id"]).Status != stop.RunCancelled {
		time.Sleep(time.Millisecond)
	}
}
