//go:build e2e && unix

package e2e_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/pexctl/pex/builtins/node"
	"github.com/pexctl/pex/builtins/tool"
	"github.com/pexctl/pex/dsl"
	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/component"
	"github.com/pexctl/pex/engine/model"
	"github.com/pexctl/pex/internal/e2e"
	provider "github.com/pexctl/pex/providers/http"
)

// options are those of an llm entry, as the language compiles them.
func options(t *testing.T, entry string) (config any, wrong string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "spec.yaml")
	spec := "apiVersion: pex/v1\nkind: Agent\nmetadata: {name: x}\nllms:\n  main:\n    provider: http\n    model: mock\n" + indented(entry) + "tools: {clock: {}}\n"
	if err := os.WriteFile(path, []byte(spec), 0o600); err != nil {
		t.Fatal(err)
	}
	p, _, found := dsl.Compile(path, dsl.Options{Catalog: engine.Catalog{
		Models: component.Set[model.Settings, model.Model]{provider.HTTP}, Tools: tool.All(), Nodes: node.All(),
	}})
	if p != nil {
		return p.Models[0].Config, ""
	}
	var told []string
	for _, d := range found {
		told = append(told, d.Message)
	}
	return nil, strings.Join(told, "\n")
}

// compiled is the model of an llm entry.
func compiled(t *testing.T, entry, base string, env func(string) string) (model.Model, string) {
	t.Helper()
	config, wrong := options(t, entry+"base_url: "+base+"\n")
	if wrong != "" {
		return nil, wrong
	}
	m, err := provider.HTTP.Build(config, model.Settings{
		Name: "main", Model: "mock", BaseURL: base, APIKey: "of-nothing", Timeout: 30 * time.Second, Env: env,
	})
	if err != nil {
		return nil, err.Error()
	}
	return m, ""
}

func indented(s string) string {
	var b strings.Builder
	for line := range strings.Lines(s) {
		b.WriteString("    " + line)
	}
	return b.String()
}

func TestE2EHTTPInterfacesAnswerWhole(t *testing.T) {
	base, err := url.Parse(e2e.Aimock(t, "testdata/aimock.json"))
	if err != nil {
		t.Fatal(err)
	}
	for llm, path := range map[string]string{
		"openai/v1/chat/completions": "/v1", "bedrock/converse/claude": "", "gemini/v1beta/generatecontent": "/v1beta",
	} {
		m, wrong := compiled(t, "options: {llm_interface: "+llm+"}\n", "http://"+base.Host+path, nil)
		if wrong != "" {
			t.Fatal(wrong)
		}
		for _, tools := range []bool{false, true} {
			t.Run(llm, func(t *testing.T) {
				r, err := generate(t, m, mockRequest(tools), false)
				if err != nil {
					t.Fatal(err)
				}
				if wrong := right(r, tools); wrong != "" {
					t.Error(wrong)
				}
			})
		}
	}
}

// The references and paths of a spec, compiled by the language itself.
func TestE2EHTTPTemplatesAsTheLanguageCompilesThem(t *testing.T) {
	const said = `He said "} and ${env.SECRET}` + "\n\\"
	env := func(name string) string { return map[string]string{"TEAM": `a "team"`, "SECRET": "no"}[name] }
	for name, entry := range map[string]string{
		"a mapping": `options:
  url: /ask?m=${args.model}
  headers: {x-team: "${env.TEAM}"}
  request_body:
    inputs: "${args.prompt}"
    wrapped: "<s>${args.prompt|trim}</s>"
    most: ${args.max_output_tokens}
    heat: ${args.temperature}
    of: {n: 1, team: "${env.TEAM}", none: "${args.top_p}"}
  response_filter: $[*].generated_text
`,
		"JSON text": `options:
  url: /ask?m=${args.model}
  headers: {x-team: "${env.TEAM}"}
  request_body: |
    {
      "inputs": ${args.prompt},
      "wrapped": "<s>${args.prompt|trim}</s>",
      "most": ${args.max_output_tokens},
      "heat": ${args.temperature},
      "of": {"n": ${args.seed:-1}, "team": "${env.TEAM}", "none": ${args.top_p}}
    }
  response_filter: $[*].generated_text
`,
	} {
		t.Run(name, func(t *testing.T) {
			var body map[string]any
			var where, team string
			s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				where, team = r.URL.RequestURI(), r.Header.Get("X-Team")
				if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
					t.Error(err)
				}
				w.Header().Set("Content-Type", "application/json")
				_, _ = w.Write([]byte(`[{"generated_text": "moss "}, {"generated_text": "is green"}]`))
			}))
			defer s.Close()
			m, wrong := compiled(t, entry, s.URL, env)
			if wrong != "" {
				t.Fatal(wrong)
			}
			req := &model.Request{Messages: []model.Message{{Role: model.User, Text: model.Text{said}}}}
			req.Params.MaxOutputTokens = 50
			r, err := generate(t, m, req, false)
			if err != nil || r.Text != "moss is green" {
				t.Fatalf("reply %+v, error %v", r, err)
			}
			want := map[string]any{
				"inputs": said, "wrapped": "<s>" + strings.TrimSpace(said) + "</s>", "most": 50.0,
				"of": map[string]any{"n": 1.0, "team": `a "team"`},
			}
			if diff := cmp.Diff(want, body); diff != "" {
				t.Error(diff)
			}
			if where != "/ask?m=mock" || team != `a "team"` {
				t.Errorf("asked %s for team %q", where, team)
			}
		})
	}
}

func TestE2EHTTPReportsFaultsOfASpec(t *testing.T) {
	for entry, want := range map[string]string{
		"options: {llm_interface: gemini}\n":                                        "invalid value",
		"options: {request_body: {p: '${args.promt}'}}\n":                           "unknown reference ${args.promt}",
		"options: {request_body: {p: '${parameters.question}'}}\n":                  "uses neither",
		"options: {request_body: '{\"p\": ${args.prompt}'}\n":                       "not valid JSON",
		"options: {request_body: {p: '${args.prompt}'}, response_filter: '$.a['}\n": "unexpected end of the path",
		"options: {request_body: {p: '${args.prompt}'}, response_filtre: '$.a'}\n":  "response_filtre",
	} {
		m, wrong := compiled(t, entry, "http://127.0.0.1:1", nil)
		if !strings.Contains(wrong, want) {
			t.Errorf("%s: model %v, message %q, want %q", entry, m != nil, wrong, want)
		}
	}
}
