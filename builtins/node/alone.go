package node

import "github.com/pexctl/pex/engine"

// alone says that nobody plans for this executor: the graph has no planner and
// nothing has made a plan.
func (x *executor) alone(v engine.View) bool {
	_, planned := v.Program.NodeOf("planner")
	return !planned && v.State.Plan.Version == 0
}

// takeQuestion makes the run's question the one step of an executor that nobody
// plans for. The step has the node's id, so that ${steps.<id>.result} finds it.
func (x *executor) takeQuestion(s *engine.Scope) {
	s.Record(engine.PlanTaken{Steps: []engine.Step{{ID: x.id, Goal: s.View().State.Question}}, By: x.id})
}

// reportQuestion makes what the step gave the reply that edges look at, and the
// answer of a graph that ends here. A failed step behind which nothing but the
// end comes fails the run: nobody is left to answer.
func (x *executor) reportQuestion(s *engine.Scope) error {
	v := s.View()
	rec, ok := v.State.Record(x.id)
	switch {
	case !ok:
		return nil
	case rec.Status != engine.StepOK && isLast(v, x.id):
		return engine.Fail(engine.StopStepFailed, "executor.on_step_error", "step %s (%s) ended %s, and no node comes behind it: %s", rec.ID, rec.Goal, rec.Status, rec.Error)
	}
	s.Record(engine.Replied{By: x.id, Reply: engine.ReplyEnv{Text: rec.Result}})
	return nil
}

// unanswered fails a run whose last node failed: nobody is left to answer.
func unanswered(s *engine.Scope, id string, rec engine.StepRecord) error {
	if v := s.View(); rec.Status == engine.StepOK || v.State.Answer != nil || !isLast(v, id) {
		return nil
	}
	return engine.Fail(engine.StopStepFailed, "graph.nodes."+id, "node %s ended %s, and no node comes behind it: %s", id, rec.Status, rec.Error)
}

// isLast says that every edge of a node leads to the end.
func isLast(v engine.View, id string) bool {
	for _, e := range v.Program.Graph.From(id) {
		if e.To != engine.End {
			return false
		}
	}
	return true
}

// isQuestion says that a step is the run's question: no model wrote it, and what
// looks like a reference in it is none.
func isQuestion(v engine.View, st engine.Step) bool {
	_, planned := v.Program.NodeOf("planner")
	return !planned && st.Goal == v.State.Question
}
