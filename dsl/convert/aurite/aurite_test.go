package aurite_test

import (
	"strings"
	"testing"

	"github.com/pexctl/pex/dsl/convert"
	"github.com/pexctl/pex/dsl/convert/aurite"
	"github.com/pexctl/pex/dsl/convert/internal/converttest"
)

// The complete results for the samples: files, and notes in the order of the
// source.
func TestSamples(t *testing.T) {
	for _, name := range []string{"agent.json", "components.yaml", "project.json"} {
		t.Run(name, func(t *testing.T) { converttest.Golden(t, aurite.Convert, "aurite/"+name) })
	}
}

func TestEveryValueIsInTheSpecOrANote(t *testing.T) {
	if testing.Short() {
		t.Skip("one goroutine at work: left to the runs without -short")
	}
	converttest.NothingIsLost(t, aurite.Convert, "aurite/agent.json", 15)
	converttest.NothingIsLost(t, aurite.Convert, "aurite/project.json", 15)
}

func TestRefusesOtherFiles(t *testing.T) {
	for _, tt := range []struct{ name, text, want string }{
		{"empty", "", "there is no JSON in it"},
		{"no JSON", `{"agents": [`, "a.json:1:13"},
		{"no YAML", "a: [", "neither JSON nor YAML"},
		{"an alias of itself", "agents: &a [{name: x, system_prompt: y}, *a]", "levels deep"},
		{"something else", `{"type": "plan_execute_and_reflect", "name": "x"}`, "no agent of Aurite"},
		{"no agent", `{"llms": [{"llm_id": "x", "provider": "openai"}]}`, "no agent of Aurite"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := aurite.Convert(convert.Input{Name: "a.json", Text: []byte(tt.text)})
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want %q", err, tt.want)
			}
		})
	}
}

// Single features, each checked by text in the files and notes.
func TestAuriteDetails(t *testing.T) {
	agent := func(rest string) string {
		return `{"llms": [{"llm_id": "a", "provider": "anthropic", "model_name": "m"}], "agents": [{"name": "x", "system_prompt": "p", "llm_config_id": "a"` + rest + `]}`
	}
	for _, tt := range []struct {
		name, text string
		want       []string // of shown
		not        string
	}{
		{"any server where the list is null", agent(`, "mcp_servers": null}], "clients": [{"client_id": "s", "command": "c"}`), []string{"tools:\n  s:", "type: executor"}, ""},
		{"no server where there is no list", agent(`}], "clients": [{"client_id": "s", "command": "c"}`), []string{"type: finalizer", "dropped clients[0]: no agent is given it"}, "tools:"},
		{"turns that are none", agent(`, "client_ids": ["s"], "max_iterations": "many"}], "clients": [{"client_id": "s", "command": "c"}`), []string{"executor_max_iterations: 50", "todo agents[0].max_iterations"}, ""},
		{"a key in a prompt", agent(`, "description": "use sk-ant-api03-` + strings.Repeat("Ab3x", 24) + `AA"}`), []string{"todo agents[0].description", "[removed]"}, "Ab3x"},
		{"credentials in an address", agent(`, "client_ids": ["s"]}], "clients": [{"client_id": "s", "http_endpoint": "https://me:made-up@x.org/mcp?token=made-up"}`), []string{"url: ${env.S_URL}", "todo clients[0].http_endpoint"}, "made-up"},
		{"an unknown provider", `[{"type": "agent", "name": "x", "llm_config_id": "l"}, {"type": "llm", "name": "l", "provider": "acme", "model": "m"}]`, []string{"base_url: ${env.ACME_BASE_URL}", "todo [1].provider"}, ""},
		{"a provider at an address", `[{"type": "agent", "name": "x", "llm_config_id": "l"}, {"type": "llm", "name": "l", "provider": "acme", "model": "m", "api_base": "http://localhost:8000/v1"}]`, []string{"base_url: http://localhost:8000/v1", "api_key_env: ACME_API_KEY", "changed [1].provider"}, ""},
		{"ollama", `[{"type": "agent", "name": "x", "llm_config_id": "l"}, {"type": "llm", "name": "l", "provider": "ollama", "model": "m", "api_base": "http://localhost:11434"}]`, []string{"base_url: http://localhost:11434/v1"}, ""},
		{"two of a name", agent(`}, {"name": "x", "system_prompt": "second"}`), []string{"dropped agents[1]: there is a component of this kind and name already"}, "second"},
		{"a workflow that runs itself", agent(`}], "simple_workflows": [{"name": "w", "steps": ["x", "w"]}`), []string{`"w" runs itself`}, "w.yaml"},
		{"a graph with a circle", agent(`}], "graph_workflows": [{"name": "g", "nodes": [{"node_id": "a", "name": "x"}, {"node_id": "b", "name": "x"}], "edges": [{"from": "a", "to": "b"}, {"from": "b", "to": "a"}]}`), []string{"in a circle"}, "type: agent"},
		{"a graph with two ends", agent(`}], "graph_workflows": [{"name": "g", "nodes": [{"node_id": "a", "name": "x"}, {"node_id": "b", "name": "x"}], "edges": []}`), []string{"type: transform", "${steps.a.result}\n\n        ${steps.b.result}"}, ""},
		{"a name of no letters", `{"agents": {"2. Ändern / löschen": {"system_prompt": "p"}}}`, []string{"name: agent-2-ndern-l-schen", "changed agents"}, ""},
		{"a dollar sign in a prompt", agent(`, "description": "d"}, {"name": "y", "system_prompt": "${parameters.x} $<env.HOME>", "llm_config_id": "a"}`), []string{"$${parameters.x} $$<env.HOME>"}, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r, err := aurite.Convert(convert.Input{Name: "a.json", Text: []byte(tt.text)})
			if err != nil {
				t.Fatal(err)
			}
			got := converttest.Shown(r)
			for _, want := range tt.want {
				if !strings.Contains(got, want) {
					t.Errorf("%q is missing in\n%s", want, got)
				}
			}
			if tt.not != "" && strings.Contains(got, tt.not) {
				t.Errorf("%q should not be in\n%s", tt.not, got)
			}
		})
	}
}

// FuzzAurite checks that any file is either rejected or converted to valid YAML.
func FuzzAurite(f *testing.F) {
	f.Add([]byte(`{"agents": [{"name": "\u0000", "system_prompt": "${", "mcp_servers": null}], "clients": [{"name": "x", "args": [[], {}, null]}], "evaluations": [{"component_refs": ["\u0000"]}]}`))
	converttest.Fuzz(f, aurite.Convert, "aurite/agent.json", "aurite/components.yaml", "aurite/project.json")
}

// Single keys of a project, with text that the files must and must not contain,
// and the text of a note.
func TestKeysOfAProject(t *testing.T) {
	tests := []struct{ name, members, agent, want, never, noted, unnoted string }{
		{
			"a password in an argument", `"clients": [{"client_id": "db", "command": "npx", "args": ["postgres://u:hunter2@db/x"]}]`, `"client_ids": ["db"]`,
			"'${env.DB_ARGUMENT}'", "hunter2", "contains a user name and a password", "",
		},
		{
			"a key as an argument", `"clients": [{"client_id": "db", "command": "npx", "args": ["sk-proj-AbCdEfGhIjKlMnOpQrStUvWxYz0123456789AbCdEf"]}]`, `"client_ids": ["db"]`,
			"'${env.DB_ARGUMENT}'", "ABCDEFGHIJ", "looks like a secret", "",
		},
		{"a temperature that none has", `"llms": [{"llm_id": "m", "model": "x", "temperature": 2048}]`, `"llm_config_id": "m"`, "model: x", "2048", "no number that temperature can be", ""},
		{"an evaluation without cases", `"evaluations": [{"name": "e", "component_refs": ["a"]}]`, `"system_prompt": "x"`, "", "kind: Suite", "no cases to ask", ""},
		{
			"an evaluation that no llm can judge", `"evaluations": [{"name": "e", "component_refs": ["a"], "test_cases": [{"input": "q", "expectations": ["x"]}]}]`, `"system_prompt": "x"`,
			"llms:\n  judge:\n    provider: anthropic\n    model: to-be-filled-in\ndataset:", "", "no llm is there to judge", "",
		},
		{"no server is no oddity", `"llms": []`, `"client_ids": [], "exclude_components": []`, "type: finalizer", "", "", "has no such key"},
		{
			"a schema that OpenAI does not hold a model to", `"llms": [{"llm_id": "gpt", "provider": "openai", "model": "gpt-4o"}]`,
			`"llm_config_id": "gpt", "config_validation_schema": {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}`,
			"# pex:ignore-file PEX094 ", "", "additionalProperties: false", "",
		},
		{
			"one that it does", `"llms": [{"llm_id": "gpt", "provider": "openai", "model": "gpt-4o"}]`,
			`"llm_config_id": "gpt", "config_validation_schema": {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"], "additionalProperties": false}`,
			"additionalProperties: false", "PEX094", "", "OpenAI holds",
		},
		{
			"one of a server that only speaks OpenAI's protocol", `"llms": [{"llm_id": "gpt", "provider": "groq", "model": "m"}]`,
			`"llm_config_id": "gpt", "config_validation_schema": {"type": "object", "properties": {"n": {"type": "integer"}}}`,
			"schema:", "PEX094", "", "OpenAI holds",
		},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			got, err := aurite.Convert(convert.Input{Name: "p.json", Text: []byte(`{` + tc.members + `, "agents": [{"name": "a", "model": "claude-3", ` + tc.agent + `}]}`)})
			if err != nil {
				t.Fatal(err)
			}
			files, notes, _ := strings.Cut(converttest.Shown(got), "-- notes --")
			if !strings.Contains(files, tc.want) || tc.never != "" && strings.Contains(files, tc.never) {
				t.Errorf("want %q, never %q:\n%s", tc.want, tc.never, files)
			}
			if !strings.Contains(notes, tc.noted) || tc.unnoted != "" && strings.Contains(notes, tc.unnoted) {
				t.Errorf("want %q, never %q:\n%s", tc.noted, tc.unnoted, notes)
			}
		})
	}
}
