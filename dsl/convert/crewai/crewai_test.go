package crewai_test

import (
	"strings"
	"testing"

	"github.com/pexctl/pex/dsl/convert"
	"github.com/pexctl/pex/dsl/convert/crewai"
	"github.com/pexctl/pex/dsl/convert/internal/converttest"
)

func TestSamples(t *testing.T) {
	for _, name := range []string{"crewai/agents.yaml"} {
		t.Run(name, func(t *testing.T) { converttest.Golden(t, crewai.Convert, name) })
	}
}

func TestEveryValueIsInTheSpecOrANote(t *testing.T) {
	if testing.Short() {
		t.Skip("slow")
	}
	converttest.NothingIsLost(t, crewai.Convert, "crewai/agents.yaml", 10)
	converttest.NothingIsLost(t, crewai.Convert, "crewai/tasks.yaml", 10)
}

func TestRefusesOtherFiles(t *testing.T) {
	for _, tt := range []struct{ name, text, want string }{
		{"empty", "", "there is no JSON in it"},
		{"a comment", "#", "the file is empty"},
		{"something else", "a: {b: c}", "not a CrewAI crew"},
		{"a flow", "schema: crewai.flow/v1\nname: x", "a CrewAI flow cannot be converted"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := crewai.Convert(convert.Input{Name: "a.yaml", Text: []byte(tt.text)})
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want %q", err, tt.want)
			}
		})
	}
}

// FuzzCrewAI checks that any file is either rejected or converted to valid YAML.
func FuzzCrewAI(f *testing.F) {
	f.Add([]byte(`agents: [{role: "{a}", goal: g, llm: {model: x/y, temperature: 9}}]
tasks: [{name: end, description: "${x} {question}", expected_output: e, context: [end]}]`))
	converttest.Fuzz(f, crewai.Convert, "crewai/agents.yaml", "crewai/tasks.yaml")
}
