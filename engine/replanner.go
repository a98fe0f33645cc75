package engine

import (
	"slices"
)

// Replanner is the node that a run goes to from another one for a new plan, or a
// last look at the one there is: the nearest reflector ahead, if nobody plans
// before it, else the planner whose plan it is. "" = there is none.
func (p *Program) Replanner(from, planner string) string {
	all := p.Replanners(from)
	switch {
	case slices.Contains(all, planner):
		return planner
	case len(all) > 0:
		return all[0]
	}
	return ""
}

// Replanners are the nodes that Replanner may name, whoever's plan it is. Where
// no more than one node plans, any reflector looks at its plan.
func (p *Program) Replanners(from string) []string {
	reflectors, planners := p.nodesOf("reflector"), p.nodesOf("planner")
	for _, id := range p.Graph.Ahead(from, "reflector", "planner") {
		if slices.Contains(reflectors, id) {
			return []string{id}
		}
	}
	if len(reflectors) > 0 && len(planners) < 2 {
		return reflectors[:1]
	}
	return planners
}

// nodesOf are the nodes of a type that the graph has, in the order written.
func (p *Program) nodesOf(typ string) (out []string) {
	for _, n := range p.Graph.Nodes {
		if n.Type == typ {
			out = append(out, n.ID)
		}
	}
	return out
}
