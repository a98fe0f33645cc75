package engine

import (
	"slices"
)

// Replanner returns the node that a run continues at for a new plan or a last review: the
// nearest PlanReviewer ahead unless a Planner comes first, else the planner of the
// current plan. "" = none.
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

// Replanners returns the nodes that Replanner may return for any planner. If at most one
// node plans, any PlanReviewer reviews its plan.
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
