package node

import (
	"fmt"
	"slices"
	"strings"

	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/text"
	"github.com/pexctl/pex/engine/tool"
)

var (
	_ engine.Bounded = (*planner)(nil)
	_ engine.Bounded = (*executor)(nil)
	_ engine.Bounded = (*reflector)(nil)
	_ engine.Bounded = (*finalizer)(nil)
)

// WorstCase counts a plan with its repairs, repeated for guards and reviewers that reject
// it.
func (p *planner) WorstCase(program *engine.Program) engine.WorstCase {
	turns := planningRounds(program, engine.AfterPlan, 1)
	return engine.WorstCase{Visit: planningAsks(program, "planner", p.cfg.LLM.Name, p.PlanRules(), turns), Plans: true}
}

// WorstCase counts a review with its repairs, repeated for guards and reviewers that
// reject it. In graphs where taking over a plan counts as a replan, max_replans limits
// the visits.
func (x *reflector) WorstCase(program *engine.Program) engine.WorstCase {
	plan := maxRepairs(allRules(program, x.id))
	turns := planningRounds(program, engine.AfterReflect, 2)
	w := engine.WorstCase{Visit: planningAsks(program, "reflector", x.cfg.LLM.Name, plan, turns), Plans: true, AfterMaxSteps: true}
	if x.cfg.Strategy != perStep {
		n := program.Limits.MaxReplans
		w.Visits = &engine.Factor{N: n + 1, Text: fmt.Sprintf("(1 + limits.max_replans %d)", n), Paths: []string{"limits.max_replans"}}
	}
	return w
}

// mostRepairs returns, over all planners whose plan may be under review, the most repairs
// and the most approvals.
func maxRepairs(all []engine.PlanRules) engine.PlanRules {
	out := all[0]
	for _, p := range all[1:] {
		out.MaxRepairs = max(out.MaxRepairs, p.MaxRepairs)
		if a := p.Approval.Source; a != "" && a != "never" {
			out.Approval = p.Approval
		}
	}
	return out
}

// planningAsks returns the turns of a planning role. Each turn includes its repair
// requests and, if the spec configures compaction, a summary.
func planningAsks(p *engine.Program, role, llm string, plan engine.PlanRules, turns []engine.Factor) []engine.CallBound {
	repairs := withRepairs(p, "planner.repair.max_attempts", plan.MaxRepairs)
	ask := engine.CallBound{Role: role, LLM: llm, Times: append(slices.Clip(turns), repairs)}
	if a := plan.Approval.Source; a != "" && a != "never" {
		ask.Unbounded = "planner.approval: a human may reject any number of plans"
	}
	asks := []engine.CallBound{ask}
	for _, sum := range summaries(p, turns) {
		sum.Unbounded = ask.Unbounded
		asks = append(asks, sum)
	}
	return asks
}

// repaired returns a call plus its repair requests: n for invalid plans, and those for
// answers that do not match the output schema.
func withRepairs(p *engine.Program, plans string, n int) engine.Factor {
	f := engine.Factor{N: 1, Text: "(1"}
	add := func(path string, n int) {
		f.N += n
		f.Text += fmt.Sprintf(" + %s %d", path, n)
		f.Paths = append(f.Paths, path)
	}
	if plans != "" {
		add(plans, n)
	}
	if p.Output != nil {
		add("output.repair.max_attempts", p.Output.MaxAttempts)
	}
	f.Text += ")"
	return f
}

// againFor returns how often a role plans in one visit: first times if a guard at the
// given places can request a new plan that no limit counts yet, plus max_replans.
func planningRounds(p *engine.Program, at engine.GuardPlace, first int) []engine.Factor {
	i := slices.IndexFunc(p.Guards, func(g engine.Guard) bool { return g.At == at && g.Do == engine.GuardReplan })
	if i < 0 {
		return nil
	}
	n, guard := p.Limits.MaxReplans, fmt.Sprintf("guards[%d]", p.Guards[i].Index)
	return []engine.Factor{{
		N: first + n, Text: fmt.Sprintf("(%d + limits.max_replans %d, which %s may use up)", first, n, guard),
		Paths: []string{"limits.max_replans", guard},
	}}
}

// summaries returns one summary call per prompt.
func summaries(p *engine.Program, times []engine.Factor) []engine.CallBound {
	r := p.Memory.Compaction.Summarize
	if r == nil {
		return nil
	}
	return []engine.CallBound{{Role: "summarizer", LLM: r.LLM, Times: times}}
}

// WorstCase counts all attempts of a step with all their turns, and the judge.
func (x *executor) WorstCase(p *engine.Program) engine.WorstCase {
	w := engine.WorstCase{Starts: engine.StartsOpen}
	w.Jumps = slices.ContainsFunc(p.Replanners(x.id), func(id string) bool { return engine.NodeIs[engine.PlanReviewer](p, id) }) ||
		replansAt(p, engine.AfterStep, engine.BeforeTool, engine.AfterTool)
	attempts := []engine.Factor{factorOf("executor.step_attempts", x.cfg.StepAttempts)}
	if agent, _ := x.cfg.Agent.Program().(*engine.Program); agent != nil {
		w.Step = []engine.CallBound{{Agent: agent, Times: attempts}}
	} else {
		turns := append(slices.Clip(attempts), factorOf("limits.executor_max_iterations", p.Limits.ExecutorMaxIterations))
		calls := engine.CallBound{Tools: x.callable(p), Times: turns}
		if x.cfg.Mode != reactText {
			calls.Unbounded = "one reply may call any number of tools, and limits.max_tool_calls is not set"
		}
		w.Step = append([]engine.CallBound{{Role: "executor", LLM: x.cfg.LLM.Name, Times: turns}, calls}, summaries(p, turns)...)
	}
	if x.cfg.Verify.Source == "judge" {
		w.Step = append(w.Step, engine.CallBound{Role: "judge", LLM: x.cfg.LLM.Name, Times: attempts})
	}
	return w
}

// replansAt reports whether a guard at one of the places can request a new plan.
func replansAt(p *engine.Program, places ...engine.GuardPlace) bool {
	return slices.ContainsFunc(p.Guards, func(g engine.Guard) bool { return g.Do == engine.GuardReplan && slices.Contains(places, g.At) })
}

// callable returns the entries of tools that steps may call, including toolsets with at
// least one callable member.
func (x *executor) callable(p *engine.Program) []string {
	var out []string
	for i := range p.Tools {
		name := p.Tools[i].Name
		if (x.cfg.Tools == nil || mayMatch(x.cfg.Tools, name)) && !text.MatchAny(x.cfg.ExcludeTools, name) {
			out = append(out, name)
		}
	}
	return out
}

// mayMean reports whether a glob matches the tool, or may match a member of a toolset
// with that name.
func mayMatch(globs []string, name string) bool {
	member := tool.MemberName(name, "")
	return text.MatchAny(globs, name) || slices.ContainsFunc(globs, func(g string) bool {
		plain, _, _ := strings.Cut(g, "*")
		if i := strings.IndexAny(plain, `?[\`); i >= 0 {
			plain = plain[:i]
		}
		if plain == g {
			return strings.HasPrefix(g, member)
		}
		return strings.HasPrefix(plain, member) || strings.HasPrefix(member, plain)
	})
}

// counted returns a number in the spec as a factor.
func factorOf(at string, n int) engine.Factor {
	return engine.Factor{N: n, Text: fmt.Sprintf("%s %d", at, n), Paths: []string{at}}
}

// WorstCase counts an answer plus one call per repair of an answer that does not match
// the output schema.
func (f *finalizer) WorstCase(p *engine.Program) engine.WorstCase {
	ask := engine.CallBound{Role: "finalizer", LLM: f.cfg.LLM.Name}
	if p.Output != nil {
		ask.Times = []engine.Factor{withRepairs(p, "", 0)}
	}
	return engine.WorstCase{Visit: append([]engine.CallBound{ask}, summaries(p, nil)...)}
}
