package node

import (
	"errors"
	"strings"

	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/exprenv"
	"github.com/pexctl/pex/engine/model"
	"github.com/pexctl/pex/engine/plan"
	"github.com/pexctl/pex/engine/stop"
)

// visitID returns the step ID of a visit to a node, so that ${steps.<id>.result} finds
// its result: the node's ID, then id.2, id.3, ...
func visitID(s engine.Scope, id string) string {
	return strings.TrimSuffix(s.Nth(id), ".1")
}

// recordResult records the result of a node as a step, and as the reply that edges read.
func recordResult(s engine.Scope, id string, rec plan.StepRecord) {
	s.Record(engine.NodeReplied{By: id, Reply: exprenv.Reply{Text: rec.Result}})
	s.Record(engine.StepEnded{Record: rec})
}

// recordStopped records a node that ended because the run ended, and returns err.
func recordStopped(s engine.Scope, rec plan.StepRecord, err error) error {
	rec.Status, rec.Error = cutStatus(err)
	s.Record(engine.StepEnded{Record: rec})
	return err
}

// startStep starts a node as a step. It counts towards max_steps, like the steps of a
// plan.
func startStep(s engine.Scope, id, goal string) (plan.StepRecord, error) {
	n := s.View().State.Executed
	if s.Exceeded(func(l engine.Limits) bool { return n >= l.MaxSteps }) {
		return plan.StepRecord{}, stop.AtLimit(stop.MaxSteps, "limits.max_steps", "%d steps were executed", n)
	}
	s.Record(engine.StepStarted{Step: plan.Step{ID: id, Goal: goal}, Attempt: 1})
	return plan.StepRecord{ID: id, Goal: goal, Attempts: 1}, nil
}

// cutStatus returns the status of a step that was interrupted because the run ended or a
// guard requested a new plan. The work done until then is part of the result.
func cutStatus(err error) (status plan.Status, why string) {
	var end *stop.Error
	var urge *engine.ReplanError
	switch {
	case errors.As(err, &urge):
		return plan.Cancelled, urge.Message
	case errors.As(err, &end):
		if end.Reason.Status == stop.RunStopped && end.Reason.Code != stop.Guard {
			return plan.Limit, end.Error()
		}
		return plan.Cancelled, end.Error()
	case engine.TimedOut(err):
		return plan.Cancelled, "the run's time was over"
	case model.AsError(err) != nil:
		return plan.Failed, err.Error()
	default:
		return plan.Cancelled, "the run was stopped: " + err.Error()
	}
}
