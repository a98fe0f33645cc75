package node

import (
	"slices"

	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/component"
	"github.com/pexctl/pex/engine/tool"
)

// rulesOf returns the rules of the current plan or, before there is one, those of the
// planner that precedes the node.
func rulesOf(v *engine.View, of string) engine.PlanRules {
	if p, ok := v.Program.Nodes[v.State.Planner].(engine.Planner); ok {
		return p.PlanRules()
	}
	return allRules(v.Program, of)[0]
}

// allRules returns the rules of all plans that the node may work on, those of the nearest
// planner first. It has at least one element.
func allRules(p *engine.Program, of string) (out []engine.PlanRules) {
	if len(engine.NodesWith[engine.Planner](p)) > 1 {
		for _, id := range p.Graph.Before(of, func(id string) bool { return engine.NodeIs[engine.Planner](p, id) }) {
			out = append(out, p.Nodes[id].(engine.Planner).PlanRules())
		}
	}
	if len(out) > 0 {
		return out
	}
	if _, n := engine.NodeWith[engine.Planner](p); n != nil {
		return []engine.PlanRules{n.PlanRules()}
	}
	return []engine.PlanRules{Planner.Config().(*PlannerConfig).rules()}
}

// stepTools returns the tools available to the steps of a plan that the node makes: those
// of the executors that follow it, in spec order.
func stepTools(v *engine.View, of string) []tool.Info {
	p := v.Program
	if len(engine.NodesWith[engine.StepRunner](p)) > 1 {
		if ahead := p.Graph.Ahead(of, func(id string) bool { return engine.NodeIs[engine.StepRunner](p, id) }); len(ahead) > 0 {
			return toolsOfAny(v, ahead)
		}
	}
	if _, x := engine.NodeWith[engine.StepRunner](p); x != nil {
		return x.StepTools(*v)
	}
	return v.Tools
}

// anyOf returns the tools that at least one of the executors can use.
func toolsOfAny(v *engine.View, executors []string) (out []tool.Info) {
	usable := map[string]bool{}
	for _, id := range executors {
		for _, t := range v.Program.Nodes[id].(engine.StepRunner).StepTools(*v) {
			usable[t.Name] = true
		}
	}
	return slices.DeleteFunc(slices.Clone(v.Tools), func(t tool.Info) bool { return !usable[t.Name] })
}

// reviewPrompt returns the prompt of the program's reviewer, which other templates may
// include.
func reviewPrompt(p *engine.Program) component.PromptRef {
	if _, x := engine.NodeWith[engine.PlanReviewer](p); x != nil {
		return x.ReviewPrompt()
	}
	return Reflector.Config().(*ReflectorConfig).ReflectPrompt
}
