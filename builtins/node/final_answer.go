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

// FinalizeAnswer takes the result of the node before the end as the answer, for a run in
// which planner, reflector and finalizer gave none. An answer that does not match the
// output schema fails the run: an executor has already used its repairs (see
// checkReport), and other nodes have no model to ask. If a human denies at the end of the
// graph, the run has no answer, even if an earlier node gave one.
func (*finalizer) FinalizeAnswer(s engine.Scope, before string) error {
	v := s.View()
	if err := humanDenial(&v, before); err != nil {
		s.Record(engine.Answered{})
		return err
	}
	if v.State.Answer != nil {
		return nil
	}
	node := "the node " + before + " (" + v.Program.TypeOf(before) + ")"
	if rec, ok := unfinishedStep(&v.State); ok {
		return failureError(&rec, failurePath(v.Program, before), "the run ends behind %s, and step %s (%s) ended %s, so the run has no answer: %s", node, rec.ID, rec.Goal, rec.Status, rec.Error)
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
	return stop.Fail(stop.OutputInvalid, path, "the output of %s is not a valid answer (a finalizer after it could write one): %s\nThe output was:\n%s", node, wrong, v.State.LastOutput)
}

// humanDenial returns an error if the last node is a human node and the human denied, and nil
// otherwise.
func humanDenial(v *engine.View, before string) error {
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

// unfinishedStep returns the step that left the run without an answer: the last one that did not
// end ok, skipping steps that did not run because an earlier one failed.
func unfinishedStep(st *engine.State) (plan.StepRecord, bool) {
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

// failurePath returns the key that decides what happens when the node fails.
func failurePath(p *engine.Program, id string) string {
	if engine.NodeIs[engine.StepRunner](p, id) {
		return "executor.on_step_error"
	}
	return "graph.nodes." + id
}

// isFinal reports whether the report of the step is the answer of the run, and must have
// its form.
func (x *executor) isFinal(v *engine.View, st plan.Step) bool {
	return v.Program.Output != nil && x.isLast(v, st)
}

// isLast reports whether nothing follows the step: it is the last one of the plan, and no
// other node follows the executor.
func (x *executor) isLast(v *engine.View, st plan.Step) bool {
	steps := v.State.Plan.Steps
	if len(steps) == 0 || steps[len(steps)-1].ID != st.ID {
		return false
	}
	return !slices.ContainsFunc(v.Program.Graph.From(x.id), func(e graph.Edge[engine.Condition]) bool { return e.To != engine.End && e.To != x.id })
}

// checkReport returns what is wrong with a report as the answer of the run, for the model
// to fix, until the output's repairs are used up. It ignores problems that other steps of
// the plan can still fix; those are checked at the end of the run.
func (a *attempt) checkReport(s engine.Scope, report string) (wrong string) {
	v := s.View()
	if !a.x.isFinal(&v, a.st) || a.repairs >= v.Program.Output.MaxAttempts {
		return ""
	}
	rec := a.rec
	rec.Status, rec.Result = plan.OK, report
	v.State = v.State.Apply(engine.StepEnded{Record: rec})
	stage := answer.Final
	if v.State.HasOpenSteps() {
		stage = answer.Unfinished
	}
	if _, _, wrong = answer.Shape(&v, report, nil, stage); wrong == "" {
		return ""
	}
	a.repairs++
	return "Your report is invalid:\n" + wrong + "\nReport again."
}
