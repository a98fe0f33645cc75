package guard_test

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/pexctl/pex/dsl/guard"
	"github.com/pexctl/pex/engine/exprenv"
)

// bounded fails the test if f allocates more than a guard may, or takes much too
// long: the promise is 100 ms, without limits it takes minutes.
func bounded(t *testing.T, f func()) {
	t.Helper()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	start := time.Now()
	f()
	took := time.Since(start)
	runtime.ReadMemStats(&after)
	if limit := 5 * time.Second * slower; took > limit {
		t.Errorf("took %v, want at most %v", took, limit)
	}
	if n := (after.TotalAlloc - before.TotalAlloc) >> 20; n > 16*slower {
		t.Errorf("allocated %d MB, want at most %d", n, 16*slower)
	}
}

func TestLimitsApplyBeforeTheCompiler(t *testing.T) {
	chain := "1"
	for range 30 {
		chain = "(1 < " + chain + " < 3 ? 1 : 2)"
	}
	cases := []struct{ name, src, want string }{
		{"a million parentheses", strings.Repeat("(", 1_000_000) + "1" + strings.Repeat(")", 1_000_000), "the expression has 2000001 bytes; the maximum is 4096"},
		{"a long source", "true" + strings.Repeat(" ", guard.MaxSource), "the expression has 4100 bytes; the maximum is 4096"},
		{"parentheses", strings.Repeat("(", 65) + "true" + strings.Repeat(")", 65), "the expression is nested more than 64 levels deep"},
		{"brackets", strings.Repeat("[", 2000), "the expression is nested more than 64 levels deep"},
		{"mixed", strings.Repeat("([{", 30), "the expression is nested more than 64 levels deep"},
		{"signs", strings.Repeat("!", 65) + "true", "the expression is nested more than 64 levels deep"},
		{"words", strings.Repeat("not ", 65) + "true", "the expression is nested more than 64 levels deep"},
		{"minus", strings.Repeat("- ", 2000) + "1 == 1", "the expression is nested more than 64 levels deep"},
		{"nodes", strings.Repeat("1 + ", 400) + "1 == 401", "the expression has more than 300 parts"},
		{"a list", "len([" + strings.Repeat("1,", 1500) + "1]) == 1", "the expression has more than 300 parts"},
		{"conditions", strings.Repeat("true ? true : ", 290) + "true", "the expression has more than 300 parts"},
		{"chains that share their middle", chain + " == 1", "the expression has more than 300 parts"},
	}
	env, _ := guard.Place("after_step", parameters)
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			bounded(t, func() {
				_, p := guard.Compile(c.src, env)
				if messageOf(p) != c.want {
					t.Errorf("got %q, want %q", messageOf(p), c.want)
				}
			})
		})
	}
}

func TestDepthDoesNotCountText(t *testing.T) {
	env, _ := guard.Place("after_step", parameters)
	for _, src := range []string{
		`step.goal != "` + strings.Repeat("(", 200) + `"`,
		"run.tokens" + strings.Repeat(" - 1", 100) + " > 0",
		strings.Repeat("(true) and ", 90) + "true",
		strings.Repeat("not true or ", 90) + "true",
		"true /* " + strings.Repeat("[", 200) + " */",
	} {
		if _, p := guard.Compile(src, env); p != nil {
			t.Errorf("%.40s...: %v", src, p)
		}
	}
}

func TestEvaluationIsBounded(t *testing.T) {
	list := make([]any, 100_000)
	for i := range list {
		list[i] = i
	}
	var deep any = 1
	for range 5000 {
		deep = []any{deep}
	}
	steps := make([]exprenv.Step, 100)
	for i := range steps {
		steps[i] = exprenv.Step{ID: fmt.Sprint(i), Goal: strings.Repeat("x", 64<<10)}
	}
	values := map[string]any{
		"output":     map[string]any{"list": list, "deep": deep, "copy": append([]any{}, list...), "text": strings.Repeat("y", 64<<10)},
		"parameters": map[string]any{"pattern": strings.Repeat("(x+x+)+", 50) + "z"},
		"plan":       exprenv.Plan{Steps: steps}, "run": exprenv.Run{Tokens: 1 << 60},
	}
	double := "let a = output.text + output.text; "
	for c := 'b'; c <= 'z'; c++ {
		double += fmt.Sprintf("let %c = %c + %c; ", c, c-1, c-1)
	}
	env, _ := guard.Place("ensures", nil)
	cases := []struct{ name, src, want string }{
		{"strings that double", double + `z == ""`, "too expensive"},
		{"strings that double in a loop", `all(output.list, .x + output.text != "")`, ""},
		{"a long string in a loop", `all(output.list, output.text + "x" != "y")`, "too expensive"},
		{"a range", `len(1..1000000000) > 3`, "lists of more than"},
		{"a range by a value", `len(1..run.tokens) > 3`, "lists of more than"},
		{"a range in a loop", `all(output.list, len(1..1000) > 0)`, "lists of more than"},
		{"loops in loops", `all(output.list, all(output.list, all(output.list, true)))`, "too expensive"},
		{"loops in loops over steps", `all(plan.steps, all(plan.steps, all(plan.steps, all(plan.steps, true))))`, "too expensive"},
		{"maps in maps", `len(map(output.list, map(output.list, #))) > 0`, "too expensive"},
		{"membership in a loop", `all(output.list, -1 in output.list)`, "too expensive"},
		{"sums in a loop", `all(output.list, sum(output.list) > 0)`, "too expensive"},
		{"text searched in a loop", `none(output.list, output.text contains "z")`, "too expensive"},
		{"a pattern in a loop", `none(output.list, output.text matches "(y+y+)+z")`, "too expensive"},
		{"a pattern from a value", `output.text matches parameters.pattern`, "result false"},
		{"lists compared in a loop", `all(output.list, output.list == output.copy)`, "too expensive"},
		{"text made in a loop", `all(output.list, string(output.list) != "")`, "too expensive"},
		{"a deep list", `output.deep == output.list`, "result false"},
		{"a deep list as text", `string(output.deep) == "x"`, "result false"},
		{"a deep list summed", `max(output.deep) == 1`, ""},
		{"lower in a loop", `none(plan.steps, none(plan.steps, lower(.goal) == "y"))`, "too expensive"},
		{"one long loop is fine", `all(output.list, # >= 0)`, "result true"},
		{"a loop over all pairs of steps is fine", `none(plan.steps, any(plan.steps, .status == "failed"))`, "result true"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			g, p := guard.Compile(c.src, env)
			if p != nil {
				t.Fatal(p)
			}
			bounded(t, func() {
				ok, err := g.Eval(values)
				got := fmt.Sprintf("result %v", ok)
				if err != nil {
					got = err.Error()
				}
				if !strings.Contains(got, c.want) {
					t.Errorf("got %s, want %s", got, c.want)
				}
			})
		})
	}
}

func TestUnsafeFunctionsAreRejected(t *testing.T) {
	env, _ := guard.Place("ensures", nil)
	for _, src := range []string{
		`repeat(repeat("a", 999999), 999999) == ""`, `now() != nil`, `date("2020-01-01") != nil`, `duration("1h") != nil`,
		`fromJSON("[]") == nil`, `keys(output) == nil`, `values(output) == nil`, `toPairs(output) == nil`,
		`reduce(1..9, #acc + #acc, "a") == ""`, `sortBy(output, #) == nil`, `flatten(output) == nil`, `join(output, "") == ""`,
		`split(output, "") == nil`, `concat(output, output) == nil`, `get(output, "a") == nil`, `timezone("UTC") != nil`,
		`output.String() == ""`, `output?.f() == 1`, `$env.f() == 1`, `(output)(1) == 1`, `output["f"]() == 1`, `{"a": 1}.a() == 1`,
		`::now() == 1`, `output | repeat(3) == ""`, `output | now() == ""`,
	} {
		if _, p := guard.Compile(src, env); p == nil {
			t.Errorf("%s compiles", src)
		}
	}
}
