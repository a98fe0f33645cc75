package guard_test

import (
	"testing"

	"github.com/pexctl/pex/dsl/guard"
)

// TestValuesOfOtherTypes: values that the library would misread as another type,
// and fail on, compare by their own type.
func TestValuesOfOtherTypes(t *testing.T) {
	for _, tt := range []struct {
		src  string
		want bool
	}{
		{`max(1, 2.5) != -3`, true},
		{`max(1, 2.5) == 2.5`, true},
		{`min(3, 2.5) + 1 == 3.5`, true},
		{`-max(1, 2.5) == -2.5`, true},
		{`min(run.tokens, run.cost) == run.cost`, true},
		{`min(2, min(1.5, 3)) == 1.5`, true},
		{`mean(1, 2) == 1.5 and median(1, 2) == 1.5`, true},
		{`any(plan.steps, max(.attempts, 1.5) == 1.5)`, true},
		{`let m = max(1, 2.5); abs(m) == 2.5`, true},
		{`max(run.tokens, 7) % 7 == 2`, true},
		{`max(1, 2.5) in [1, 2]`, false},
		{`max(1, 2.5) in [1, 2.5]`, true},
		{`step.output.n in ["a"]`, false},
		{`step.output.n in ["a", "b"]`, false},
		{`step.output.n not in ["a", "b"]`, true},
		{`step.output.n in [1, 4]`, true},
		{`step.output.n in [4.0]`, true},
		{`step.output in ["x", "y"]`, false},
		{`step.output.missing in ["x", "y"]`, false},
		{`4 in step.output`, false},
		{`"score" in step.output`, true},
		{`step.output.n in {"a": 1}`, false},
		{`any([4, 5], # in step.output)`, false},
		{`count(["a", step.output.n], # in ["a", "b"]) == 1`, true},
	} {
		t.Run(tt.src, func(t *testing.T) {
			env, _ := guard.Place("after_step", parameters)
			g, p := guard.Compile(tt.src, env)
			if p != nil {
				t.Fatal(p)
			}
			if got, err := g.Eval(everything()); err != nil || got != tt.want {
				t.Errorf("got %v, %v; want %v", got, err, tt.want)
			}
		})
	}
}

// TestNeverInAList: an expression is rejected if its types show that a value can
// never be in a list.
func TestNeverInAList(t *testing.T) {
	for src, want := range map[string]string{
		`parameters.n in ["a"]`:         "line 1, column 14: a number can never be in a list of strings (convert with int(x), float(x) or string(x))",
		`run.tokens in parameters.tags`: "line 1, column 12: a number can never be in a list of strings (convert with int(x), float(x) or string(x))",
		`step.status in [1, 2]`:         "line 1, column 13: a string can never be in a list of numbers (convert with int(x), float(x) or string(x))",
		`run.tokens in {"a": 1}`:        "line 1, column 12: a number can never be a key of an object (convert with int(x), float(x) or string(x))",
	} {
		env, _ := guard.Place("after_step", parameters)
		if _, p := guard.Compile(src, env); p == nil || p.Error() != want {
			t.Errorf("%s:\n got %v\nwant %s", src, p, want)
		}
	}
}
