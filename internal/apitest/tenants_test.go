package apitest_test

import (
	"encoding/json"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/pexctl/pex/engine/goldentest"
	"github.com/pexctl/pex/server/agents"
	"github.com/pexctl/pex/server/api"
	"github.com/pexctl/pex/server/manager"
)

// operation is an operation of the OpenAPI document.
type operation struct{ method, path string }

// operations returns all operations of the OpenAPI document, sorted.
func operations(t testing.TB) (all []operation) {
	t.Helper()
	var document struct {
		Paths map[string]map[string]json.RawMessage `json:"paths"`
	}
	if err := json.Unmarshal(api.OpenAPI("test"), &document); err != nil {
		t.Fatal(err)
	}
	for _, path := range slices.Sorted(maps.Keys(document.Paths)) {
		for _, method := range slices.Sorted(maps.Keys(document.Paths[path])) {
			all = append(all, operation{strings.ToUpper(method), path})
		}
	}
	return all
}

// bodies are valid bodies of requests, by the end of the path.
var bodies = map[string]string{
	"answers":  `{"path": "step.s1/turn.1/tool.0.approval", "do": "approve"}`,
	"cancel":   `{}`,
	"fork":     `{"at": "plan.1"}`,
	"messages": `{"id": "m-1", "text": "hi"}`,
	"resume":   `{"keep_spec": true}`,
	"runs":     `{"question": "hi", "run_id": "new"}`,
}

var placeholder = regexp.MustCompile(`\{(\w+)\}`)

// target returns the path of an operation with ids.
func (o operation) target(ids map[string]string) string {
	target := placeholder.ReplaceAllStringFunc(o.path, func(p string) string { return ids[strings.Trim(p, "{}")] })
	if strings.HasPrefix(o.path, "/v1/sessions/") && strings.HasSuffix(o.path, "/events") {
		target += "?follow=0" // it would not end
	}
	return target
}

func (o operation) body() string { return bodies[o.path[strings.LastIndexByte(o.path, '/')+1:]] }

// desk starts a server with a run that waits for an approval, and a conversation and an
// artifact.
func desk(t testing.TB) *world {
	t.Helper()
	archive, dir := goldentest.Txtar(t, "testdata/decisions.txtar"), t.TempDir()
	archive.Extract(t, dir)
	w := newWorld(t, dir, manager.NewSlots(manager.Limits{Running: 8, RunningPerTenant: 8, Waiting: 1000}))
	res := w.do("ann", "POST", "/v1/agents/desk/runs", nil, `{"question": "secret of shared", "run_id": "r-1", "memory_id": "chat"}`)
	if res.Code != http.StatusCreated {
		t.Fatal(res.Code, res.Body)
	}
	w.await("r-1")
	evaluation := goldentest.Txtar(t, "testdata/evals.txtar")
	evaluation.Extract(t, filepath.Join(dir, "evaluation"))
	if err := os.CopyFS(filepath.Join(dir, "home", "evals"), os.DirFS(filepath.Join(dir, "evaluation", "home", "evals"))); err != nil {
		t.Fatal(err)
	}
	if res := w.do("ann", "POST", "/v1/artifacts", nil, "secret of shared"); res.Code != http.StatusCreated || !strings.Contains(res.Body.String(), secretArtifact) {
		t.Fatal(res.Code, res.Body)
	}
	return w
}

// The digests of an artifact of desk, and of none.
const (
	secretArtifact = "e49499fa5d1fa5b0d6b8db43d165b793ec62a53b8c7b0519a1b59192c2d09a16"
	noArtifact     = "0000000000000000000000000000000000000000000000000000000000000000"
)

// For a client of another tenant, each operation responds to the id of an existing run or
// conversation as to one that does not exist, and changes nothing.
func TestOtherTenantsDoNotExist(t *testing.T) {
	w := desk(t)
	before := w.do("root", "GET", "/v1/runs/r-1", nil, "").Body.String()
	existing := map[string]string{"agent": "desk", "run": "r-1", "other": "r-1", "call": "plan.1/model", "id": "chat", "name": "chat", "eval": "e-1", "sha256": secretArtifact}
	unknown := map[string]string{"agent": "desk", "run": "u-1", "other": "u-1", "call": "plan.1/model", "id": "none", "name": "none", "eval": "e-9", "sha256": noArtifact}
	for _, o := range operations(t) {
		theirs := w.do("eve", o.method, o.target(existing), nil, o.body())
		if strings.Contains(theirs.Body.String(), "secret of shared") || strings.Contains(theirs.Body.String(), "r-1/") {
			t.Errorf("%s %s shows another tenant:\n%s", o.method, o.path, theirs.Body)
		}
		if !strings.Contains(o.path, "{run}") && !strings.Contains(o.path, "{id}") && !strings.Contains(o.path, "{sha256}") && !strings.Contains(o.path, "{eval}") && !strings.Contains(o.path, "{name}") {
			continue
		}
		none := w.do("eve", o.method, o.target(unknown), nil, o.body())
		text := strings.NewReplacer("u-1", "r-1", "none", "chat", noArtifact, secretArtifact, "e-9", "e-1").Replace(none.Body.String())
		if theirs.Code != http.StatusNotFound || theirs.Code != none.Code || theirs.Body.String() != text {
			t.Errorf("%s %s: %d %s, but %d %s", o.method, o.path, theirs.Code, theirs.Body, none.Code, text)
		}
	}
	if after := w.do("root", "GET", "/v1/runs/r-1", nil, "").Body.String(); after != before {
		t.Errorf("the run was changed:\n%s", after)
	}
}

// A client without roles learns nothing and changes nothing, and one that may only view
// changes nothing.
func TestRolesAreRequired(t *testing.T) {
	w := desk(t)
	ids := map[string]string{"agent": "desk", "run": "r-1", "other": "r-1", "call": "plan.1/model", "id": "chat", "name": "chat", "eval": "e-1", "sha256": secretArtifact}
	lists := []string{"/v1/agents", "/v1/runs", "/v1/questions", "/v1/evals"}
	for _, o := range operations(t) {
		res := w.do("none", o.method, o.target(ids), nil, o.body())
		isEmpty := slices.Contains(lists, o.path) && strings.Contains(res.Body.String(), "[]")
		if res.Code != http.StatusNotFound && res.Code != http.StatusForbidden && !isEmpty && o.path != "/openapi.json" {
			t.Errorf("none: %s %s: %d %s", o.method, o.path, res.Code, res.Body)
		}
		if o.method == http.MethodGet {
			continue
		}
		if res := w.do("vic", o.method, o.target(ids), nil, o.body()); res.Code != http.StatusForbidden {
			t.Errorf("vic: %s %s: %d %s", o.method, o.path, res.Code, res.Body)
		}
		if res := w.do("nobody", o.method, o.target(ids), nil, o.body()); res.Code != http.StatusUnauthorized {
			t.Errorf("nobody: %s %s: %d %s", o.method, o.path, res.Code, res.Body)
		}
	}
}

// No response names a folder of the server.
func TestResponsesNameNoFolder(t *testing.T) {
	w := desk(t)
	ids := map[string]string{"agent": "desk", "run": "r-1", "other": "r-1", "call": "plan.1/model", "id": "chat", "name": "chat", "eval": "e-1", "sha256": secretArtifact}
	for _, o := range operations(t) {
		for _, body := range []string{o.body(), "{", `{"x": 1}`, `{"question": 1}`, ""} {
			if o.method == http.MethodGet && body != "" {
				continue
			}
			res := w.do("root", o.method, o.target(ids), nil, body)
			if text := res.Body.String(); strings.Contains(text, w.dir) || strings.Contains(text, w.tenants[""].Home) || strings.Contains(text, "goroutine") {
				t.Errorf("%s %s %s: %s", o.method, o.path, body, text)
			}
		}
	}
}

// A repeated request gets its run, although the agent has changed and would reject it.
func TestARepeatedRequestOfAChangedAgent(t *testing.T) {
	w := desk(t)
	key := http.Header{"Idempotency-Key": {"order-1"}}
	start := func(body string) (int, string) {
		res := w.do("ann", "POST", "/v1/agents/desk/runs", key, body)
		return res.Code, res.Body.String()
	}
	first, body := start(`{"question": "How much?"}`)
	if first != http.StatusCreated {
		t.Fatal(first, body)
	}
	file := filepath.Join(w.dir, "desk", "spec.yaml")
	spec, err := os.ReadFile(file)
	if err == nil {
		err = os.WriteFile(file, append(spec, "parameters: {amount: {type: integer, required: true}}\n"...), 0o600)
	}
	if err == nil {
		err = w.agents.Reload([]agents.Definition{{Spec: filepath.Dir(file)}})
	}
	if err != nil {
		t.Fatal(err)
	}
	if status, body := start(`{"question": "How much?"}`); status != http.StatusOK || !strings.Contains(body, `"run_id": "k-`) {
		t.Errorf("repeated: %d %s", status, body)
	}
	if status, body := start(`{"question": "Another?"}`); status != 422 || !strings.Contains(body, "idempotency_mismatch") {
		t.Errorf("another request: %d %s", status, body)
	}
	if res := w.do("ann", "POST", "/v1/agents/desk/runs", nil, `{"question": "How much?"}`); res.Code != 422 || !strings.Contains(res.Body.String(), "amount") {
		t.Errorf("a new request: %d %s", res.Code, res.Body)
	}
}

// Two agents of one spec with different roles keep their runs apart, also after one of them
// was removed from the server.
func TestAgentsOfOneSpecKeepTheirRunsApart(t *testing.T) {
	w := desk(t)
	spec := filepath.Join(w.dir, "desk")
	open := agents.Definition{Name: "open", Spec: spec}
	hidden := agents.Definition{Name: "hidden", Spec: spec, Roles: rolesOf("secret")}
	load := func(all ...agents.Definition) {
		t.Helper()
		if err := w.agents.Reload(all); err != nil {
			t.Fatal(err)
		}
	}
	load(open, hidden)
	for _, agent := range []string{"open", "hidden"} {
		if res := w.do("root", "POST", "/v1/agents/"+agent+"/runs", nil, `{"question": "How much?", "run_id": "of-`+agent+`"}`); res.Code != http.StatusCreated {
			t.Fatal(res.Code, res.Body)
		}
		w.tenants[""].Manager.Await(t.Context(), "of-"+agent)
	}
	check := func(state string) {
		t.Helper()
		for _, path := range []string{"/v1/runs/of-hidden", "/v1/runs/of-hidden/events", "/v1/runs/of-hidden/journal", "/v1/runs/of-open/diff/of-hidden"} {
			if res := w.do("vic", "GET", path, nil, ""); res.Code != http.StatusNotFound {
				t.Errorf("%s: vic: %s: %d %s", state, path, res.Code, res.Body)
			}
		}
		for client, sees := range map[string]bool{"vic": false, "root": true} {
			if list := w.do(client, "GET", "/v1/runs", nil, "").Body.String(); strings.Contains(list, "of-hidden") != sees || !strings.Contains(list, "of-open") {
				t.Errorf("%s: %s: %s", state, client, list)
			}
		}
	}
	check("both agents")
	load(open)
	check("one agent")
}

// A run must not show its client the turns of agents that the client may not view.
func TestConversationsOfHiddenAgentsAreClosed(t *testing.T) {
	w := desk(t)
	spec := filepath.Join(w.dir, "desk")
	hidden := agents.Definition{Name: "hidden", Spec: spec, Roles: rolesOf("secret")}
	if err := w.agents.Reload([]agents.Definition{{Name: "open", Spec: spec}, hidden}); err != nil {
		t.Fatal(err)
	}
	if res := w.do("root", "POST", "/v1/agents/hidden/runs", nil, `{"question": "How much?", "run_id": "h", "memory_id": "theirs"}`); res.Code != http.StatusCreated {
		t.Fatal(res.Code, res.Body)
	}
	w.tenants[""].Manager.Await(t.Context(), "h")
	for body, want := range map[string]int{
		`{"question": "How much?", "memory_id": "theirs"}`:                                    http.StatusForbidden,
		`{"question": "How much?", "memory_id": "own", "executor_memory_id": "theirs"}`:       http.StatusForbidden,
		`{"question": "How much?", "memory_id": "own", "executor_memory_id": "own/executor"}`: http.StatusCreated,
	} {
		if res := w.do("ann", "POST", "/v1/agents/open/runs", nil, body); res.Code != want {
			t.Errorf("%s: %d %s", body, res.Code, res.Body)
		}
	}
	if res := w.do("root", "POST", "/v1/agents/open/runs", nil, `{"question": "How much?", "memory_id": "theirs"}`); res.Code != http.StatusCreated {
		t.Errorf("root: %d %s", res.Code, res.Body)
	}
}
