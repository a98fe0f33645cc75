package adk_test

import (
	"strings"
	"testing"

	"github.com/pexctl/pex/dsl/convert"
	"github.com/pexctl/pex/dsl/convert/adk"
	"github.com/pexctl/pex/dsl/convert/internal/converttest"
)

func TestSamples(t *testing.T) {
	for _, name := range []string{"adk/root_agent.yaml"} {
		t.Run(name, func(t *testing.T) { converttest.Golden(t, adk.Convert, name) })
	}
}

func TestEveryValueIsInTheSpecOrANote(t *testing.T) {
	if testing.Short() {
		t.Skip("slow")
	}
	converttest.NothingIsLost(t, adk.Convert, "adk/root_agent.yaml", 15, "tools[4].args.skip_summarization")
}

func TestRefusesOtherFiles(t *testing.T) {
	for _, tt := range []struct{ name, text, want string }{
		{"empty", "", "there is no JSON in it"},
		{"a comment", "#", "the file is empty"},
		{"something else", "a: {b: c}", "not an ADK agent config"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := adk.Convert(convert.Input{Name: "a.yaml", Text: []byte(tt.text)})
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want %q", err, tt.want)
			}
		})
	}
}

// FuzzADK checks that any file is either rejected or converted to valid YAML.
func FuzzADK(f *testing.F) {
	f.Add([]byte(`name: a
agent_class: LoopAgent
sub_agents: [{config_path: b.yaml}, {code: x}]`))
	f.Add([]byte(`name: x
instruction: "{a} {{b}} {c?}"
tools: [{name: MCPToolset, args: [{name: stdio_server_params, value: {command: x}}]}, 1]
model_code: {name: m, args: [{name: model, value: a/b}]}`))
	converttest.Fuzz(f, adk.Convert, "adk/root_agent.yaml")
}
