package report

import (
	"fmt"
	"slices"

	"github.com/pexctl/pex/dsl/suitespec"
	"github.com/pexctl/pex/engine/component"
	"github.com/pexctl/pex/engine/exprenv"
)

// gates evaluates the gates of the suite, or the default gate.
func (r *Report) gates(o Options, q *quarantine) {
	r.Gates = []GateResult{}
	for _, g := range gatesOf(o.Suite) {
		r.Gates = append(r.Gates, r.gate(g, q))
	}
	r.Gates = append(r.Gates, q.gates(r.Cases)...)
}

func gatesOf(s *suitespec.Suite) []suitespec.Gate {
	if gateless(s) {
		return []suitespec.Gate{everyTrial(s)}
	}
	return s.Gates
}

func gateless(s *suitespec.Suite) bool { return s == nil || len(s.Gates) == 0 }

// everyTrial returns the default gate: no trial fails.
func everyTrial(s *suitespec.Suite) suitespec.Gate {
	g := suitespec.Gate{Name: "every trial passes", Each: true, When: component.GuardRef{Source: "case.passed == case.n"}}
	g.When.Bind(func(env map[string]any) (bool, error) {
		c, _ := env["case"].(exprenv.Case)
		return c.Passed == c.N, nil
	})
	if s != nil {
		g.Position = s.Position
	}
	return g
}

func (r *Report) gate(g suitespec.Gate, q *quarantine) GateResult {
	out := GateResult{Name: g.Name, Expr: g.When.Source, File: g.Position.File, Line: g.Position.Line}
	if out.Name == "" {
		out.Name = g.When.Source
	}
	if r.Comparison == nil && mentions(g.When.Source, "baseline") {
		out.Error = "there is no baseline: write one with pexctl eval bless, or name one with --baseline"
		return out
	}
	switch out.Error = r.missingKey(g.When.Source); {
	case out.Error != "":
	case r.allQuarantined() || !g.Each && r.onlyQuarantined(g.When.Source):
		out.Pass, out.Got = true, noCaseApplies
	case g.Each:
		r.gateEach(&out, g, q)
	default:
		pass, err := g.When.Eval(r.env())
		out.Pass = pass && err == nil
		if err != nil {
			out.Error = err.Error()
		}
		out.Got = figures(g.When.Source, r.env())
	}
	return out
}

// noCaseApplies is the value of a gate that passes because no case applies: all cases that ran are quarantined
// or have no graded trial.
const noCaseApplies = "no case applies"

// gateEach evaluates a gate for every case that has a graded trial and is not quarantined.
func (r *Report) gateEach(out *GateResult, g suitespec.Gate, q *quarantine) {
	env := r.env()
	var worst exprenv.Case
	evaluated := 0
	for _, c := range r.Cases.All() {
		if c.N == 0 || q.contains(c.ID) {
			continue
		}
		evaluated++
		env["case"] = c.Case
		pass, err := g.When.Eval(env)
		if err != nil {
			out.Error = fmt.Sprintf("case %s: %v", label(c.ID, c.Variant), err)
			return
		}
		if pass {
			continue
		}
		out.Cases = append(out.Cases, label(c.ID, c.Variant))
		if len(out.Cases) == 1 || c.PassRate < worst.PassRate {
			worst = c.Case
		}
	}
	out.Pass = len(out.Cases) == 0
	out.Got = fmt.Sprintf("passes for all %d", evaluated)
	if evaluated == 0 {
		out.Got = noCaseApplies
	}
	if !out.Pass {
		env["case"] = worst
		out.Got = fmt.Sprintf("%d of %d fail; the worst, %s: %s", len(out.Cases), evaluated, label(worst.ID, worst.Variant), figures(g.When.Source, env))
	}
}

// failedGates returns the names of the gates that failed.
func (r *Report) failedGates() []string {
	var out []string
	for _, g := range r.Gates {
		if !g.Pass {
			out = append(out, g.Name)
		}
	}
	return slices.Clip(out)
}
