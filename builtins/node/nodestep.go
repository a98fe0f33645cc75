package node

import (
	"errors"
	"strings"

	"github.com/pexctl/pex/engine"
)

// visitID is the id under which a node of a written-out graph keeps what it
// gave, so that ${steps.<id>.result} finds it: the node's id, then id.2, ...
func visitID(s engine.Scope, id string) string {
	return strings.TrimSuffix(s.Nth(id), ".1")
}

// recordResult records what a node gave: as a step, and as the reply edges look at.
func recordResult(s engine.Scope, id string, rec engine.StepRecord) {
	s.Record(engine.Replied{By: id, Reply: engine.ReplyEnv{Text: rec.Result}})
	s.Record(engine.StepEnded{Record: rec})
}

// recordStopped records a node that the run's own end has ended, and passes that on.
func recordStopped(s engine.Scope, rec engine.StepRecord, err error) error {
	rec.Status, rec.Error = cutStatus(err)
	s.Record(engine.StepEnded{Record: rec})
	return err
}

// startStep records that a node runs as a step; max_steps holds for it as for a
// plan's.
func startStep(s engine.Scope, id, goal string) (engine.StepRecord, error) {
	n := s.View().State.Executed
	if s.Exceeded(func(l engine.Limits) bool { return n >= l.MaxSteps }) {
		return engine.StepRecord{}, engine.AtLimit(engine.StopMaxSteps, "limits.max_steps", "%d steps were executed", n)
	}
	s.Record(engine.StepStarted{Step: engine.Step{ID: id, Goal: goal}, Attempt: 1})
	return engine.StepRecord{ID: id, Goal: goal, Attempts: 1}, nil
}

// cutStatus is how a step ended that did not end by itself: the run ended, or a
// guard wants a new plan. What it did until then is part of the result.
func cutStatus(err error) (status engine.StepStatus, why string) {
	var stop *engine.StopError
	var urge *engine.ReplanError
	switch {
	case errors.As(err, &urge):
		return engine.StepCancelled, urge.Message
	case errors.As(err, &stop):
		if stop.Reason.Status == engine.Stopped && stop.Reason.Code != engine.StopGuard {
			return engine.StepLimit, stop.Error()
		}
		return engine.StepCancelled, stop.Error()
	case engine.TimedOut(err):
		return engine.StepCancelled, "the run's time was over"
	case engine.AsModelError(err) != nil:
		return engine.StepFailed, err.Error()
	default:
		return engine.StepCancelled, "the run was stopped: " + err.Error()
	}
}
