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

// WorstCase is a plan and its repairs, and again for what guards and people reject.
func (p *planner) WorstCase(program *engine.Program) engine.WorstCase {
	turns := againFor(program, engine.AfterPlan, 1)
	return engine.WorstCase{Visit: planningAsks(program, "planner", p.cfg.LLM.Name, p.PlanRules(), turns), Plans: true}
}

// WorstCase is a look at the plan with its repairs, and again for what guards and
// people reject. Where taking over a plan is a replan, max_replans bounds the
// visits.
func (x *reflector) WorstCase(program *engine.Program) engine.WorstCase {
	plan := mostRepairs(allRules(program, x.id))
	turns := againFor(program, engine.AfterReflect, 2)
	w := engine.WorstCase{Visit: planningAsks(program, "reflector", x.cfg.LLM.Name, plan, turns), Plans: true, AfterMaxSteps: true}
	if x.cfg.Strategy != perStep {
		n := program.Limits.MaxReplans
		w.Visits = &engine.Factor{N: n + 1, Text: fmt.Sprintf("(1 + limits.max_replans %d)", n), Paths: []string{"limits.max_replans"}}
	}
	return w
}

// mostRepairs is what a planner asks for at most whose plan it may be: its
// repairs and its approval, each the most of all.
func mostRepairs(all []engine.PlanRules) engine.PlanRules {
	out := all[0]
	for _, p := range all[1:] {
		out.MaxRepairs = max(out.MaxRepairs, p.MaxRepairs)
		if a := p.Approval.Source; a != "" && a != "never" {
			out.Approval = p.Approval
		}
	}
	return out
}

// planningAsks is turns of a role that plans: each may be asked again with what is
// wrong with its reply, and begins with a summary where the spec has one.
func planningAsks(p *engine.Program, role, llm string, plan engine.PlanRules, turns []engine.Factor) []engine.Ask {
	repairs := repaired(p, "planner.repair.max_attempts", plan.MaxRepairs)
	ask := engine.Ask{Role: role, LLM: llm, Times: append(slices.Clip(turns), repairs)}
	if a := plan.Approval.Source; a != "" && a != "never" {
		ask.Unbounded = "planner.approval: a person may send every plan back, as often as they like"
	}
	asks := []engine.Ask{ask}
	for _, sum := range summaries(p, turns) {
		sum.Unbounded = ask.Unbounded
		asks = append(asks, sum)
	}
	return asks
}

// repaired is a call and those that ask again: for plans, and for answers that
// the output does not take.
func repaired(p *engine.Program, plans string, n int) engine.Factor {
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

// againFor is how often a role plans in one visit: first times where a guard may
// ask for another plan that no limit counts yet, and max_replans more.
func againFor(p *engine.Program, at engine.GuardPlace, first int) []engine.Factor {
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

// summaries is a summary for each of so many prompts.
func summaries(p *engine.Program, times []engine.Factor) []engine.Ask {
	r := p.Memory.Compaction.Summarize
	if r == nil {
		return nil
	}
	return []engine.Ask{{Role: "summarizer", LLM: r.LLM, Times: times}}
}

// WorstCase is, for a step, all its attempts with all their turns, and the judge.
func (x *executor) WorstCase(p *engine.Program) engine.WorstCase {
	w := engine.WorstCase{Starts: engine.StartsOpen}
	w.Jumps = slices.ContainsFunc(p.Replanners(x.id), func(id string) bool { return engine.NodeIs[engine.PlanReviewer](p, id) }) ||
		replansAt(p, engine.AfterStep, engine.BeforeTool, engine.AfterTool)
	attempts := []engine.Factor{counted("executor.step_attempts", x.cfg.StepAttempts)}
	if agent, _ := x.cfg.Agent.Program().(*engine.Program); agent != nil {
		w.Step = []engine.Ask{{Agent: agent, Times: attempts}}
	} else {
		turns := append(slices.Clip(attempts), counted("limits.executor_max_iterations", p.Limits.ExecutorMaxIterations))
		calls := engine.Ask{Tools: x.callable(p), Times: turns}
		if x.cfg.Mode != reactText {
			calls.Unbounded = "one reply may call any number of tools, and limits.max_tool_calls is not set"
		}
		w.Step = append([]engine.Ask{{Role: "executor", LLM: x.cfg.LLM.Name, Times: turns}, calls}, summaries(p, turns)...)
	}
	if x.cfg.Verify.Source == "judge" {
		w.Step = append(w.Step, engine.Ask{Role: "judge", LLM: x.cfg.LLM.Name, Times: attempts})
	}
	return w
}

// replansAt says that a guard of some places may want a new plan.
func replansAt(p *engine.Program, places ...engine.GuardPlace) bool {
	return slices.ContainsFunc(p.Guards, func(g engine.Guard) bool { return g.Do == engine.GuardReplan && slices.Contains(places, g.At) })
}

// callable is the tools of the spec that steps may call, or some of whose
// members they may.
func (x *executor) callable(p *engine.Program) []string {
	var out []string
	for i := range p.Tools {
		name := p.Tools[i].Name
		if (x.cfg.Tools == nil || mayMean(x.cfg.Tools, name)) && !text.MatchAny(x.cfg.ExcludeTools, name) {
			out = append(out, name)
		}
	}
	return out
}

// mayMean says that a glob matches a tool, or may match a member of a toolset of
// that name.
func mayMean(globs []string, name string) bool {
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

// counted is a number of the spec as a factor.
func counted(at string, n int) engine.Factor {
	return engine.Factor{N: n, Text: fmt.Sprintf("%s %d", at, n), Paths: []string{at}}
}

// WorstCase is an answer, and again for each that the output does not take.
func (f *finalizer) WorstCase(p *engine.Program) engine.WorstCase {
	ask := engine.Ask{Role: "finalizer", LLM: f.cfg.LLM.Name}
	if p.Output != nil {
		ask.Times = []engine.Factor{repaired(p, "", 0)}
	}
	return engine.WorstCase{Visit: append([]engine.Ask{ask}, summaries(p, nil)...)}
}
