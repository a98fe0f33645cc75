package dsl_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pexctl/pex/dsl"
)

// doubled returns a spec whose named prompts each contain the previous one twice.
func doubled(levels int) string {
	var b strings.Builder
	b.WriteString(head + "prompts:\n  p0: end\n")
	for i := range levels {
		fmt.Fprintf(&b, "  p%d: '${prompts.p%d} ${prompts.p%d}'\n", i+1, i, i)
	}
	fmt.Fprintf(&b, "planner: {system_prompt: '${prompts.p%d}'}\n", levels)
	return b.String()
}

// A few lines must not expand to a prompt that no model could read.
func TestNestedPromptsAreLimited(t *testing.T) {
	large := head + "prompts:\n  p: '" + strings.Repeat("x", 500_000) + "'\nplanner: {system_prompt: '"
	cases := []struct {
		name, spec string
		want       []string
	}{
		{"a few", doubled(3), []string{}},
		{"each twice the one before", doubled(40), []string{"PEX003"}},
		{"a large one twice", large + "${prompts.p} ${prompts.p}'}\n", []string{}},
		{"a large one four times", large + "${prompts.p} ${prompts.p} ${prompts.p} ${prompts.p}'}\n", []string{"PEX003"}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			write(t, map[string]string{"spec.yaml": c.spec})
			_, found := dsl.Load("spec.yaml", dsl.Options{Catalog: catalog})
			got := []string{}
			for _, d := range found {
				got = append(got, string(d.Code))
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("%s\n%s", diff, found)
			}
		})
	}
}
