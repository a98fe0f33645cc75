package prompt_test

import (
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/pexctl/pex/dsl/prompt"
)

// TestVectors runs the substitution cases shared by all implementations.
func TestVectors(t *testing.T) {
	raw, err := os.ReadFile("../../testdata/vectors/substitution.json")
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Cases []struct {
			ID, Name, Template string
			Params             map[string]any
			Output             string
			Error              string
		}
	}
	if err := json.Unmarshal(raw, &file); err != nil {
		t.Fatal(err)
	}
	if len(file.Cases) < 20 {
		t.Fatalf("%d cases, want at least 20", len(file.Cases))
	}
	for _, c := range file.Cases {
		t.Run(c.ID+" "+c.Name, func(t *testing.T) {
			tpl, problems := prompt.Parse(c.Template, declared(c.Params))
			if c.Error != "" {
				if !slices.ContainsFunc(problems, func(p prompt.Problem) bool { return p.Code == c.Error && p.Severity == prompt.Error }) {
					t.Fatalf("problems %+v, want %s", problems, c.Error)
				}
				return
			}
			if prompt.Failed(problems) {
				t.Fatalf("problems: %+v", problems)
			}
			if got := strings.Join(tpl.Render(from(c.Params)), ""); got != c.Output {
				t.Errorf("got %q, want %q", got, c.Output)
			}
		})
	}
}

// declared returns options with exactly the names of params.
func declared(params map[string]any) prompt.Options {
	return prompt.Options{
		Namespaces: []string{"parameters"},
		Known: func(ns, name string) prompt.Knowledge {
			_, ok := params[name]
			names := make([]string, 0, len(params))
			for n := range params {
				names = append(names, n)
			}
			slices.Sort(names)
			return prompt.Knowledge{Declared: ns == "parameters" && ok, Names: names}
		},
	}
}

// from returns a lookup of parameters in a map.
func from(params map[string]any) func(ns, name string) (any, bool) {
	return func(ns, name string) (any, bool) {
		v, ok := params[name]
		return v, ok && ns == "parameters"
	}
}
