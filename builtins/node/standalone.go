package node

import (
	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/exprenv"
	"github.com/pexctl/pex/engine/plan"
)

// standalone says that no one plans for this executor: the graph has no planner and
// nothing has made a plan.
func (x *executor) standalone(v engine.View) bool {
	return v.State.Plan.Version == 0 && len(engine.NodesWith[engine.Planner](v.Program)) == 0
}

// planQuestion makes the run's question the one step of an executor that no one
// plans for. The step has the node's id, so that ${steps.<id>.result} finds it.
func (x *executor) planQuestion(s engine.Scope) {
	s.Record(engine.PlanTaken{Steps: []plan.Step{{ID: x.id, Goal: s.View().State.Question}}, By: x.id})
}

// replyWithResult makes what the step gave the reply that edges look at.
func (x *executor) replyWithResult(s engine.Scope) {
	if rec, ok := s.View().State.Record(x.id); ok {
		s.Record(engine.NodeReplied{By: x.id, Reply: exprenv.Reply{Text: rec.Result}})
	}
}
