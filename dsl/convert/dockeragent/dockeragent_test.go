package dockeragent_test

import (
	"strings"
	"testing"

	"github.com/pexctl/pex/dsl/convert"
	"github.com/pexctl/pex/dsl/convert/dockeragent"
	"github.com/pexctl/pex/dsl/convert/internal/converttest"
)

func TestSamples(t *testing.T) {
	for _, name := range []string{"docker-agent/harbor.yaml"} {
		t.Run(name, func(t *testing.T) { converttest.Golden(t, dockeragent.Convert, name) })
	}
}

func TestEveryValueIsInTheSpecOrANote(t *testing.T) {
	if testing.Short() {
		t.Skip("slow")
	}
	converttest.NothingIsLost(t, dockeragent.Convert, "docker-agent/harbor.yaml", 60,
		"version", "providers.office.api_type", "agents.pilot.toolsets[1].remote.transport_type", "agents.surveyor.structured_output.strict")
}

func TestRefusesOtherFiles(t *testing.T) {
	for _, tt := range []struct{ name, text, want string }{
		{"empty", "", "there is no JSON in it"},
		{"a comment", "#", "the file is empty"},
		{"a spec", "apiVersion: pex/v1\nkind: Agent", "not a docker agent file"},
		{"broken YAML", "agents: [", "neither JSON nor YAML"},
		{"agents without keys", "agents: [a, b]", "not a docker agent file"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := dockeragent.Convert(convert.Input{Name: "a.yaml", Text: []byte(tt.text)})
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want %q", err, tt.want)
			}
		})
	}
}

// FuzzDockerAgent checks that any file is either rejected or converted to valid
// YAML.
func FuzzDockerAgent(f *testing.F) {
	f.Add([]byte(`agents: {a: {sub_agents: [a, b], toolsets: [{type: mcp, ref: x}, {type: script, shell: {x: {args: [1]}}}]}, b: {handoffs: [a], model: "a,b,,"}}`))
	f.Add([]byte(`{"agents": [{"name": "\u0000", "model": "${x}/", "toolsets": [{"type": "api", "api_config": {"args": []}}]}]}`))
	converttest.Fuzz(f, dockeragent.Convert, "docker-agent/harbor.yaml")
}
