package guard_test

import (
	"strings"
	"testing"
	"time"

	"github.com/pexctl/pex/dsl/guard"
)

// FuzzGuard checks Compile and Eval for any source: no panic, a position inside
// the source, termination, and a deterministic result.
func FuzzGuard(f *testing.F) {
	for _, src := range []string{
		`run.tokens > 100 and step.status == "failed"`, `all(plan.steps, .status == "ok")`, `step.output?.a ?? 0 > 1`,
		`let x = "a" + "b"; x + x == "abab"`, `count(1..9, # % 2 == 0) == 4`, `1 < 2 < 3`, `any(step.tools, # matches "a+")`,
		`${parameters.n}`, `tool.args.path in ["a"]`, `"é" == 'é' and x`, "a\nb", `{"a": [1, 2]}.a[1:] == [2]`, "`raw` == b'x'", `max(1, 2.5) != -3 and step.output in ["a"]`, `not output.x`, `run.tokens % run.replans == 0`, `-step.output > 1`,
	} {
		f.Add(src)
	}
	env, _ := guard.Place("before_tool", nil)
	env = env.With("output", nil)
	values := everything()
	f.Fuzz(func(t *testing.T, src string) {
		start := time.Now()
		g, p := guard.Compile(src, env)
		if p != nil {
			if p.Offset < 0 || p.Offset > len(src) || p.Line < 1 || p.Column < 1 || p.Message == "" {
				t.Fatalf("%q: problem %+v", src, p)
			}
			return
		}
		a, err := g.Eval(values)
		b, again := g.Eval(values)
		if a != b || (err == nil) != (again == nil) {
			t.Fatalf("%q: %v, %v and then %v, %v", src, a, err, b, again)
		}
		if err != nil {
			for _, inner := range []string{"internal error", "runtime error", "interface conversion", "reflect", "interface {}"} {
				if said := strings.TrimPrefix(err.Error(), "evaluate "+src+": "); !strings.Contains(src, inner) && strings.Contains(said, inner) {
					t.Fatalf("%q: the error is told in the words of Go: %s", src, said)
				}
			}
		}
		if d := time.Since(start); d > 20*time.Second {
			t.Fatalf("%q: took %v", src, d)
		}
	})
}
