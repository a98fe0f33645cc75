package promptfoo_test

import (
	"strings"
	"testing"

	"github.com/pexctl/pex/dsl/convert"
	"github.com/pexctl/pex/dsl/convert/internal/converttest"
	"github.com/pexctl/pex/dsl/convert/promptfoo"
)

func TestSamples(t *testing.T) {
	for _, name := range []string{"promptfoo/promptfooconfig.yaml", "promptfoo/table.yaml"} {
		t.Run(name, func(t *testing.T) { converttest.Golden(t, promptfoo.Convert, name) })
	}
}

func TestEveryValueIsInTheSpecOrANote(t *testing.T) {
	if testing.Short() {
		t.Skip("slow")
	}
	converttest.NothingIsLost(t, promptfoo.Convert, "promptfoo/promptfooconfig.yaml", 40)
}

func TestRefusesOtherFiles(t *testing.T) {
	for _, tt := range []struct{ name, text, want string }{
		{"empty", "", "there is no JSON in it"},
		{"a comment", "#", "the file is empty"},
		{"a spec", "apiVersion: pex/v1\nkind: Agent\nprompts: {}", "not a promptfoo configuration"},
		{"something else", "a: b", "not a promptfoo configuration"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := promptfoo.Convert(convert.Input{Name: "a.yaml", Text: []byte(tt.text)})
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want %q", err, tt.want)
			}
		})
	}
}

// However hostile a file is, it is refused or becomes YAML.
func FuzzPromptfoo(f *testing.F) {
	f.Add([]byte(`prompts: "{{a.b}} {% if x %}"
providers: [{openai:gpt-5: {config: {temperature: 3}}}]
tests: [{vars: {id: 1, l: [1, 2]}, assert: [{type: contains, value: [a]}, {type: assert-set, assert: [{type: levenshtein, value: x}]}]}]`))
	converttest.Fuzz(f, promptfoo.Convert, "promptfoo/promptfooconfig.yaml", "promptfoo/table.yaml")
}
