package guard_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pexctl/pex/dsl/guard"
)

func TestNamesOfAnExpression(t *testing.T) {
	cases := []struct {
		name, source string
		fields       []string
		all          bool
	}{
		{"a field", "parameters.limit > 3", []string{"limit"}, false},
		{"several, each once", "parameters.b == 1 || parameters.a + parameters.b > 2", []string{"a", "b"}, false},
		{"a name in brackets", `parameters["due date"] != ""`, []string{"due date"}, false},
		{"optional chaining", "parameters?.limit > 3", []string{"limit"}, false},
		{"a field of a field", "parameters.user.name == 'x'", []string{"user"}, false},
		{"in a loop", "any(plan.steps, .goal contains parameters.word)", []string{"word"}, false},
		{"the whole", "len(parameters) > 3", nil, true},
		{"a computed name", "parameters[run.stop_reason] > 3", nil, true},
		{"the field of another name", "run.parameters.x > 3", nil, false},
		{"a text", `step.goal == "parameters.x"`, nil, false},
		{"what does not parse", "parameters.x >", nil, false},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			fields, all := guard.Names(c.source, "parameters")
			if d := cmp.Diff(c.fields, fields); d != "" || all != c.all {
				t.Errorf("all is %t, and the fields %s", all, d)
			}
		})
	}
}
