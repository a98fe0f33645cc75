package node

import (
	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/exprenv"
	"github.com/pexctl/pex/engine/plan"
)

// standalone reports whether the executor has no plan to run: the graph has no planner,
// and no other node made a plan.
func (x *executor) standalone(s engine.Scope) bool {
	v := s.View()
	return v.State.Plan.Version == 0 && len(engine.NodesWith[engine.Planner](v.Program)) == 0
}

// planQuestion adds the run's question as the only step of a standalone executor. The
// step has the node's ID, so that ${steps.<id>.result} finds it.
func (x *executor) planQuestion(s engine.Scope) {
	s.Record(engine.PlanAccepted{Steps: []plan.Step{{ID: x.id, Goal: s.View().State.Question}}, By: x.id})
}

// replyWithResult sets the step's result as the reply that edges read.
func (x *executor) replyWithResult(s engine.Scope) {
	v := s.View()
	if rec, ok := v.State.Record(x.id); ok {
		s.Record(engine.NodeReplied{By: x.id, Reply: exprenv.Reply{Text: rec.Result}})
	}
}
