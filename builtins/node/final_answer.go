package node

import (
	"slices"

	"github.com/pexctl/pex/builtins/node/answer"
	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/graph"
	"github.com/pexctl/pex/engine/plan"
	"github.com/pexctl/pex/engine/stop"
)

var _ engine.Finalizer = (*finalizer)(nil)

// FinalizeAnswer makes an answer of what the node before the end gave, for a run that
// ends without the words of planner, reflector or finalizer. What the output
// does not take fails the run: an executor was asked again by then (see
// answers), and no other node has a model to ask. A person who says no at the
// end has decided that there is no answer, also where there was one.
func (*finalizer) FinalizeAnswer(s engine.Scope, before string) error {
	v := s.View()
	if err := refused(v, before); err != nil {
		s.Record(engine.Answered{})
		return err
	}
	if v.State.Answer != nil {
		return nil
	}
	node := "the node " + before + " (" + v.Program.TypeOf(before) + ")"
	if rec, ok := notDone(v.State); ok {
		return failed(rec, failurePath(v, before), "the run ends behind %s, and step %s (%s) ended %s, so the run has no answer: %s", node, rec.ID, rec.Goal, rec.Status, rec.Error)
	}
	a, wrong := answer.Accept(s, v.State.LastOutput, nil)
	if wrong == "" {
		s.Record(engine.Answered{Answer: a})
		return nil
	}
	path := "output"
	if engine.NodeIs[engine.StepRunner](v.Program, before) {
		path = "output.repair.max_attempts"
	}
	return stop.Fail(stop.OutputInvalid, path, "the run ends behind %s, and what it gave is not usable as its answer (a finalizer behind it would write one that fits): %s\nIt gave:\n%s", node, wrong, v.State.LastOutput)
}

// refused is a person's no to the question of the node that the walk ends after,
// or nil.
func refused(v engine.View, before string) error {
	if _, ok := v.Program.Nodes[before].(*human); !ok || len(v.State.Steps) == 0 {
		return nil
	}
	rec := v.State.Steps[len(v.State.Steps)-1]
	if rec.Result != deny {
		return nil
	}
	why := "a person denied it: " + rec.Goal
	if rec.Error != "" {
		why += " (" + rec.Error + ")"
	}
	return stop.Denied("graph.nodes."+before, why)
}

// notDone is the step that left a run without an answer: the last one did not
// end well, and of those that did not run it is the one before them that failed.
func notDone(st engine.State) (plan.StepRecord, bool) {
	last := len(st.Steps) - 1
	if last < 0 || st.Steps[last].Status == plan.OK || st.LastOutput != st.Steps[last].Result {
		return plan.StepRecord{}, false
	}
	for _, rec := range slices.Backward(st.Steps) {
		if rec.Status != plan.Skipped && rec.Status != plan.OK {
			return rec, true
		}
	}
	return st.Steps[last], true
}

// failurePath is the key that decides what a node's failure leads to.
func failurePath(v engine.View, id string) string {
	if engine.NodeIs[engine.StepRunner](v.Program, id) {
		return "executor.on_step_error"
	}
	return "graph.nodes." + id
}

// isFinal says that the report of a step is the answer of its run: no step of
// the plan comes after it, and no other node after its executor.
func (x *executor) isFinal(v engine.View, st plan.Step) bool {
	steps := v.State.Plan.Steps
	if v.Program.Output == nil || len(steps) == 0 || steps[len(steps)-1].ID != st.ID {
		return false
	}
	return !slices.ContainsFunc(v.Program.Graph.From(x.id), func(e graph.Edge[engine.Condition]) bool { return e.To != engine.End && e.To != x.id })
}

// checkReport says what keeps a report from being the answer of the run, for the
// model to repair, as often as the output's repairs allow. What other steps of the
// plan can still change is not held against it: that is judged at the end.
func (a *attempt) checkReport(s engine.Scope, report string) (wrong string) {
	v := s.View()
	if !a.x.isFinal(v, a.st) || a.repairs >= v.Program.Output.MaxAttempts {
		return ""
	}
	rec := a.rec
	rec.Status, rec.Result = plan.OK, report
	v.State = v.State.Apply(engine.StepEnded{Record: rec})
	judge := answer.Ensured
	if v.State.AnyOpen() {
		judge = answer.EnsuredSoFar
	}
	if _, _, wrong = answer.Shape(v, report, nil, judge); wrong == "" {
		return ""
	}
	a.repairs++
	return "Your report is invalid:\n" + wrong + "\nReport again."
}
