package guard_test

import (
	"testing"

	"github.com/pexctl/pex/dsl/guard"
)

func BenchmarkEval(b *testing.B) {
	for name, src := range map[string]string{
		"run":        `run.cost > 1.5 or run.no_progress >= 3`,
		"step":       `step.status == "failed" and step.attempts > 1`,
		"steps":      `all(plan.completed, .status == "ok")`,
		"parameters": `parameters.ratio < run.cost`,
		"metered":    `step.goal + "!" == "x"`,
	} {
		b.Run(name, func(b *testing.B) {
			env, _ := guard.Place("after_step", parameters)
			g, p := guard.Compile(src, env)
			if p != nil {
				b.Fatal(p)
			}
			values := everything()
			values["parameters"].(map[string]any)["n"] = 3
			b.ReportAllocs()
			for b.Loop() {
				if _, err := g.Eval(values); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkCompile(b *testing.B) {
	env, _ := guard.Place("after_step", parameters)
	b.ReportAllocs()
	for b.Loop() {
		guard.Compile(`step.status == "failed" and run.replans < 3`, env)
	}
}
