//go:build unix

package main

import (
	"encoding/base64"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// Errors of connections that reach no server show no secrets: the address, the
// certificate, the proxy.
func TestErrorsShowNoSecretOfAnAddress(t *testing.T) {
	c := newCage(t)
	secure := httptest.NewTLSServer(http.NotFoundHandler())
	t.Cleanup(secure.Close)
	tests := []struct{ name, base, want string }{
		{"a host without a name", "http://${env.CANARY_HOST}.invalid/v1", "unknown host [redacted CANARY_HOST]"},
		{"a certificate of nobody", "https://me:${env.CANARY_HOST}@" + strings.TrimPrefix(secure.URL, "https://") + "/v1", "certificate"},
		{"nobody there", "http://me:${env.CANARY_HOST}@127.0.0.1:1/${env.CANARY_HOST}", "connection refused"},
		{"no address", "http://me:${env.CANARY_HOST} @host/v1", "is not an http or https URL"},
		{"no scheme", "${env.CANARY_HOST}", "is not an http or https URL"},
		{"a path that is wrong", "${env.CANARY_BASE}/${env.CANARY_HOST}", "HTTP 404"},
	}
	canaries["CANARY_HOST"] = "h05t-c4nary-k3y"
	t.Cleanup(func() { delete(canaries, "CANARY_HOST") })
	t.Setenv("CANARY_HOST", canaries["CANARY_HOST"])
	c.server.answers("404")
	for _, provider := range []string{"openai", "anthropic", "googleai", "bedrock", "http"} {
		for _, tt := range tests {
			t.Run(provider+": "+tt.name, func(t *testing.T) {
				c.t = t
				options := ""
				switch provider {
				case "http":
					options = ", options: {llm_interface: openai/v1/chat/completions}"
				case "bedrock":
					options = ", options: {region: eu-west-1}"
				}
				c.write("spec.yaml", canarySpec("provider: "+provider+`, model: m, base_url: "`+tt.base+`"`+options, retryOnce))
				id := strings.ReplaceAll(provider+" "+tt.name, " ", "-")
				exit, said := c.do("run", "spec.yaml", "Who are you", "--run-id", id, "--events", id+".events")
				if exit == 0 || !strings.Contains(said, tt.want) {
					t.Errorf("exit %d, want %q: %s", exit, tt.want, said)
				}
				c.do("vet", "spec.yaml")
			})
		}
	}
	c.t = t
	c.look()
}

// The transport reads its proxy once per process, so this test uses another
// process.
func TestErrorsShowNoSecretOfAProxy(t *testing.T) {
	c := newCage(t)
	c.write("spec.yaml", canarySpec(`provider: openai, model: m, base_url: "http://model.invalid/v1"`, retryOnce))
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for _, proxy := range []string{
		"http://me:pa55%2Fc4nary%2B%3C&%3Ew0rd%3F@127.0.0.1:1", "http://me:pa55%2Fc4nary%2B%3C&%3Ew0rd%3F@ proxy",
		strings.Replace(c.server.URL, "://", "://me:pa55%2Fc4nary%2B%3C&%3Ew0rd%3F@", 1),
	} {
		c.server.answers("text")
		cmd := exec.Command(self, "run", "spec.yaml", "Who are you", "-o", "json", "--events", "events", "--debug")
		cmd.Env = append(os.Environ(), append(pexctlEnv(), "HTTP_PROXY="+proxy, "http_proxy=", "NO_PROXY=", "no_proxy=")...)
		out, err := cmd.CombinedOutput()
		if err == nil || !strings.Contains(string(out), `"code": "provider_error"`) {
			t.Errorf("by the proxy %s: %v: %s", proxy, err, out)
		}
		nothingOf(t, "what is said of a proxy", string(out))
	}
	if !c.server.received("Proxy-Authorization") {
		t.Error("no proxy was told a password: the test tests nothing")
	}
	c.look()
}

// Tools receive secrets, fail, and report why.
func TestOutputsShowNoSecretOfATool(t *testing.T) {
	c := newCage(t)
	c.write("spec.yaml", `apiVersion: pex/v1
kind: Agent
metadata: {name: outer}
llms: {main: {provider: scripted, options: {replies: [
  {role: planner, text: '{"steps": ["fetch", "tell", "none"], "result": ""}'},
  {role: executor, when: call == 1 && step == "tell", tool_calls: [{name: tell, arguments: {}}]},
  {role: executor, when: call == 1 && step == "fetch", tool_calls: [{name: fetch, arguments: {url: "`+c.server.URL+`/page"}}, {name: post, arguments: {}}, {name: ask, arguments: {url: "`+c.server.URL+`/page", body: {a: 1}}}]},
  {role: executor, when: call == 1 && step == "none", tool_calls: [{name: none, arguments: {}}]},
  {role: executor, text: done, times: 0},
  {role: finalizer, text: done, times: 0}]}}}
reflector: {strategy: none}
tools:
  tell: {type: command, effect: read, argv: [sh, -c, 'env; cat; echo "$SAID" >&2; exit 1'], env: {SAID: "${env.CANARY_ROUTE}"}, stdin: "${env.CANARY_QUERY}"}
  fetch: {type: http_get, allow_hosts: ["127.0.0.1"], headers: {X-Key: "${env.CANARY_KEY}", Authorization: "Basic ${env.CANARY_TOOL_64}"}}
  post: {type: http, approval: never, url: "`+c.server.URL+`/page?key=${env.CANARY_QUERY}", headers: {X-Key: "${env.CANARY_KEY}"}, body: {key: "${env.CANARY_PASSWORD}"}}
  ask: {type: http_request, approval: never, methods: [POST], allow_hosts: ["127.0.0.1"], headers: {X-Key: "${env.CANARY_KEY}"}}
  none: {type: command, effect: read, argv: ["${env.CANARY_KEY}"], env: {A: "${env.CANARY_PASSWORD}"}}
`)
	t.Setenv("CANARY_TOOL_64", base64.StdEncoding.EncodeToString([]byte("me:"+canaries["CANARY_TOOL"])))
	c.write("outer.yaml", `apiVersion: pex/v1
kind: Agent
metadata: {name: outer}
llms: {main: {provider: scripted, options: {replies: [
  {role: planner, text: '{"steps": ["all of it"], "result": ""}'}, {role: finalizer, text: done, times: 0}, {role: reflector, text: '{"steps": [], "result": "done"}', times: 0}]}}}
executor: {agent: spec.yaml}
`)
	for _, how := range []string{"text", "401", "redirect", "type", "inner"} {
		c.server.answers(how)
		spec := "spec.yaml"
		if how == "inner" { // an agent within the agent
			c.server.answers("type")
			spec = "outer.yaml"
		}
		exit, said := c.do("run", spec, "Who are you", "--run-id", how, "--events", how+".events", "--record", how+".cassette", "-o", "json", "--include", "conversation", "--debug")
		if exit != 0 || !strings.Contains(said, " > GET ") {
			t.Errorf("%s: exit %d: %s", how, exit, said)
		}
		exit, said = c.do("runs", "export", how)
		if exit != 0 || !strings.Contains(said, "[redacted CANARY_ROUTE]") {
			t.Errorf("%s: exit %d: %s", how, exit, said)
		}
		c.do("runs", "show", how, "--conversation")
	}
	if !c.server.received(canaries["CANARY_KEY"]) {
		t.Error("no tool sent a secret: the test tests nothing")
	}
	c.look()
}

// No report shows a secret that a dataset contains as an expected answer.
func TestReportsShowNoSecretOfADataset(t *testing.T) {
	c := newCage(t)
	c.write("spec.yaml", canarySpec("provider: openai, model: m, base_url: \"${env.CANARY_BASE}/v1\", api_key_env: CANARY_KEY", retryOnce))
	data := filepath.Join(filepath.Dir(c.dir), "data") // not searched
	if err := os.Mkdir(data, 0o700); err != nil {
		t.Fatal(err)
	}
	row := `{"id":"one","question":"Who are you","said":` + c.server.inJSON(canaries["CANARY_KEY"]) + "}\n"
	if err := os.WriteFile(data+"/cases.jsonl", []byte(row), 0o600); err != nil {
		t.Fatal(err)
	}
	c.write("suite.yaml", strings.Replace(strings.Replace(canarySuite, "nothing of it", "${case.said}", 1), "dataset: cases.jsonl", "dataset: ../data/cases.jsonl", 1))
	args := []string{"eval", "suite.yaml", "--root", "..", "--id", "e", "-j", "1", "--json", "e.json", "--jsonl", "e.jsonl", "--csv", "e.csv", "--markdown", "e.md", "--junit", "e.xml", "--html", "e.html"}
	if exit, said := c.do(args...); exit == 2 || !strings.Contains(said, "1 trial") {
		t.Errorf("exit %d: %s", exit, said)
	}
	c.do("eval", "show", "e")
	c.look()
}
