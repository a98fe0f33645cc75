package engine

import (
	"slices"
)

// Replanner is the node that a run goes to from another one for a new plan, or a
// Last look at the one there is: the nearest PlanReviewer ahead, if no Planner
// comes before it, else the one whose plan it is. "" = there is none.
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
// no more than one node plans, any PlanReviewer looks at its plan.
func (p *Program) Replanners(from string) []string {
	reviewers, planners := NodesWith[PlanReviewer](p), NodesWith[Planner](p)
	for _, id := range p.Graph.Ahead(from, func(id string) bool { return NodeIs[PlanReviewer](p, id) || NodeIs[Planner](p, id) }) {
		if NodeIs[PlanReviewer](p, id) {
			return []string{id}
		}
	}
	if len(reviewers) > 0 && len(planners) < 2 {
		return reviewers[:1]
	}
	return planners
}
