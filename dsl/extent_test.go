package dsl_test

import (
	"testing"

	"github.com/pexctl/pex/dsl"
)

// Diagnostics mark their place up to its end, in editors and on pages.
func TestDiagnosticsKnowTheirEnd(t *testing.T) {
	cases := []struct {
		name   string
		line   string // the fifth line, with the only mistake
		marked string
	}{
		{"a key", "toools: {}", "toools"},
		{"a word", "limits: {max_steps: many}", "many"},
		{"a word in a list", "executor: {tools: [clok]}", "clok"},
		{"a text in quotes", `limits: {max_steps: "so many, \"or\" not"}`, `"so many, \"or\" not"`},
		{"a text in single quotes", `limits: {max_steps: 'so many'}`, `'so many'`},
		{"a reference", "planner: {planner_prompt: 'For ${parameters.nobody} only'}", "${parameters.nobody}"},
		{"a reference of the other spelling", "planner: {planner_prompt: For $<parameters.nobody> only}", "$<parameters.nobody>"},
		{"characters, not bytes", "limits: {max_steps: vielé}", "vielé"},
		{"a list", "limits: [3]", "["},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			laid(t, map[string]string{"spec.yaml": ignoreHead + c.line + "\n"})
			_, found := dsl.Load("spec.yaml", dsl.Options{Catalog: catalog, Checks: checks})
			if len(found) != 1 || found[0].Line != 5 {
				t.Fatalf("found\n%s", found)
			}
			d := found[0]
			if got := string([]rune(c.line)[d.Column-1 : max(d.EndColumn, d.Column)-1]); got != c.marked {
				t.Errorf("marked is %q, from %d to %d", got, d.Column, d.EndColumn)
			}
		})
	}
}
