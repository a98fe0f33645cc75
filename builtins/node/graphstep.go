package node

import (
	"strings"

	"github.com/pexctl/pex/engine"
)

// visitID is the id under which a node of a written-out graph keeps what it
// gave, so that ${steps.<id>.result} finds it: the node's id, then id.2, ...
func visitID(s engine.Scope, id string) string {
	return strings.TrimSuffix(s.Nth(id), ".1")
}

// gave records what a node gave: as a step, and as the reply edges look at.
func gave(s engine.Scope, id string, rec engine.StepRecord) {
	s.Record(engine.Replied{By: id, Reply: engine.ReplyEnv{Text: rec.Result}})
	s.Record(engine.StepEnded{Record: rec})
}

// stopped records a node that the run's own end has ended, and passes that on.
func stopped(s engine.Scope, rec engine.StepRecord, err error) error {
	rec.Status, rec.Error = cutStatus(err)
	s.Record(engine.StepEnded{Record: rec})
	return err
}

// started records that a node runs as a step; max_steps holds for it as for a
// plan's.
func started(s engine.Scope, id, goal string) (engine.StepRecord, error) {
	n := s.View().State.Executed
	if s.Exceeded(func(l engine.Limits) bool { return n >= l.MaxSteps }) {
		return engine.StepRecord{}, engine.AtLimit(engine.StopMaxSteps, "limits.max_steps", "%d steps were executed", n)
	}
	s.Record(engine.StepStarted{Step: engine.Step{ID: id, Goal: goal}, Attempt: 1})
	return engine.StepRecord{ID: id, Goal: goal, Attempts: 1}, nil
}
