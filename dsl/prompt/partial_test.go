package prompt_test

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pexctl/pex/dsl/prompt"
)

// promptsNamespace returns options with these named prompts, in the form in which the
// compiler passes them.
func promptsNamespace(named map[string]string) prompt.Options {
	o := prompt.Options{Namespaces: []string{"parameters"}}
	o.Partial = func(name string, _ int) *prompt.Template {
		text, ok := named[name]
		if !ok {
			return nil
		}
		t, _ := prompt.Parse(text, o)
		return t
	}
	return o
}

func TestPartialsReplaceTheirReferences(t *testing.T) {
	o := promptsNamespace(map[string]string{"tone": "Be ${parameters.how}.", "list": "- one\n- two\n", "outer": "[${prompts.tone}]", "empty": ""})
	lookup := func(ns, name string) (any, bool) {
		return map[string]any{"how": "${prompts.tone}", "null": nil}[name], ns == "parameters"
	}
	cases := []struct{ name, source, want string }{
		{"alone, and a value is never scanned", "${prompts.tone}", "Be ${prompts.tone}."},
		{"between texts", "a ${prompts.outer} b", "a [Be ${prompts.tone}.] b"},
		{"with filters", "  ${prompts.list|trim|indent 2}.", "  - one\n  - two."},
		{"in the other spelling", "$<prompts.list>!", "- one\n- two\n!"},
		{"in a default", "${parameters.null:-${prompts.list|trim}}", "- one\n- two"},
		{"empty", "a${prompts.empty}b", "ab"},
		{"escaped", "$${prompts.tone}", "${prompts.tone}"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			tmpl, problems := prompt.Parse(c.source, o)
			if len(problems) > 0 {
				t.Fatal(problems)
			}
			if got := tmpl.Text(lookup); got != c.want {
				t.Errorf("%q gives %q, want %q", c.source, got, c.want)
			}
		})
	}
}

func TestNamesOfPartialsAreNamesOfTheTemplate(t *testing.T) {
	tmpl, _ := prompt.Parse("${parameters.a} ${prompts.x} ${parameters.c}", promptsNamespace(map[string]string{"x": "${parameters.b} ${parameters.a}"}))
	want := []string{"parameters.a", "prompts.x", "parameters.b", "parameters.c"}
	if d := cmp.Diff(want, tmpl.Names()); d != "" {
		t.Error(d)
	}
}

func TestWithoutPartialsPromptsIsText(t *testing.T) {
	tmpl, problems := prompt.Parse("${prompts.x}", prompt.Options{Namespaces: []string{"parameters"}})
	if got := tmpl.Text(nil); got != "${prompts.x}" {
		t.Errorf("it became %q", got)
	}
	if !slices.ContainsFunc(problems, func(p prompt.Problem) bool { return p.Code == prompt.NearMiss }) {
		t.Errorf("nothing warns: %v", problems)
	}
}
