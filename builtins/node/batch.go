package node

import (
	"errors"
	"slices"

	"github.com/pexctl/pex/builtins/node/planning"
	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/plan"
	"github.com/pexctl/pex/engine/stop"
)

// batchRun is one visit of the executor. It hands steps whose dependencies have finished
// to a few workers. The workers are branches of one run, which the kernel schedules one
// at a time, so they share a batchRun without locks.
type batchRun struct {
	x         *executor
	format    string
	started   []string // IDs
	quota     int      // steps this visit may still start
	running   int
	finished  int    // steps finished in this visit
	failedID  string // ID of a failed step, "" if none failed
	replanErr error  // set when a guard requests a new plan; the last request wins
	stopErr   error  // the error that ends the visit for all workers
}

// run starts the workers, waits for them, and then applies on_step_error to a failed
// step.
func (b *batchRun) run(s engine.Scope, workers int) error {
	var err error
	if workers <= 1 || b.format != planning.FormatDag {
		err = b.work(s)
	} else {
		err = s.Parallel(workers, func(i int) string { return "" }, func(_ int, s engine.Scope) error { return b.work(s) })
	}
	if b.stopErr != nil {
		return b.stopErr
	}
	if err != nil {
		return err
	}
	if b.failedID != "" && b.x.take == engine.AllSteps && b.x.cfg.OnStepError == onReflect {
		b.skip(s, "step "+b.failedID+" failed before it", func(plan.Step) bool { return true })
	}
	if b.replanErr != nil {
		return b.replanErr
	}
	return b.x.outOfSteps(s)
}

// work runs ready steps one after another.
func (b *batchRun) work(s engine.Scope) error {
	for {
		if b.stopErr != nil {
			return nil
		}
		st, ok := b.next(s)
		if !ok {
			if b.running == 0 || b.noMoreSteps(s) {
				return nil
			}
			over := b.finished
			if err := s.Await(func() bool { return b.finished != over || b.stopErr != nil }); err != nil {
				return err
			}
			continue
		}
		b.started = append(b.started, st.ID)
		b.quota--
		b.running++
		rec, err := b.x.step(s, st, b)
		b.running--
		b.finished++
		if err := b.stepEnded(s, rec, err); err != nil {
			return err
		}
	}
}

// stepEnded handles the end of a step and returns an error if the visit must end.
func (b *batchRun) stepEnded(s engine.Scope, rec *plan.StepRecord, err error) error {
	if errors.Is(err, engine.ErrReplan) {
		b.replanErr = err
		return nil // the guard decides what happens next, not on_step_error
	}
	if err != nil {
		b.stopErr = err
		return err
	}
	if rec.Status == plan.OK {
		return nil
	}
	switch b.x.cfg.OnStepError {
	case onFail:
		b.stopErr = stepFailure(rec)
		return b.stopErr
	case onContinue:
		b.skip(s, "it depends on step "+rec.ID+", which failed", func(st plan.Step) bool { return b.blocked(s, st) })
	default:
		b.failedID = rec.ID
	}
	return nil
}

// stepFailure returns the error that ends the run when on_step_error is fail.
func stepFailure(rec *plan.StepRecord) error {
	if rec.Status == plan.Loop {
		return stop.AtLimit(stop.Loop, "executor.on_step_error", "step %s (%s) repeats itself: %s", rec.ID, rec.Goal, rec.Error)
	}
	return failureError(rec, "executor.on_step_error", "step %s (%s) ended %s: %s", rec.ID, rec.Goal, rec.Status, rec.Error)
}

// failureError returns the error of a run that a failed step ended: provider_error if a model
// call failed, step_failed otherwise.
func failureError(rec *plan.StepRecord, path, format string, args ...any) error {
	if rec.Failure != nil {
		return stop.ProviderFailed(rec.Failure, path, format, args...)
	}
	return stop.Fail(stop.StepFailed, path, format, args...)
}

// noMoreSteps reports whether no further step may start in this visit.
func (b *batchRun) noMoreSteps(s engine.Scope) bool {
	v := s.View()
	return b.quota <= 0 || b.replanErr != nil || b.failedID != "" || v.State.Executed >= v.Program.Limits.MaxSteps
}

// next returns the first remaining step that is ready.
func (b *batchRun) next(s engine.Scope) (plan.Step, bool) {
	if b.noMoreSteps(s) {
		return plan.Step{}, false
	}
	v := s.View()
	for st := range v.State.Open() {
		if slices.Contains(b.started, st.ID) {
			if b.format != planning.FormatDag {
				return plan.Step{}, false // lists run in order
			}
			continue
		}
		if b.depsDone(&v, st) || b.format != planning.FormatDag {
			return st, true
		}
	}
	return plan.Step{}, false
}

// ready returns the number of steps that could start now, at least 1.
func (b *batchRun) ready(s engine.Scope) int {
	v := s.View()
	if b.format != planning.FormatDag {
		return 1
	}
	n := 0
	for st := range v.State.Open() {
		if b.depsDone(&v, st) {
			n++
		}
	}
	return max(n, 1)
}

// depsDone reports whether every dependency of the step has ended, with any status. A
// step whose dependency failed still runs, unless on_step_error: continue skipped it; its
// prompt mentions the failure.
func (b *batchRun) depsDone(v *engine.View, st plan.Step) bool {
	for _, dep := range st.DependsOn {
		if !v.State.Done(dep) {
			return false
		}
	}
	return true
}

// blocked reports whether a dependency of the step ended with a status other than ok.
func (b *batchRun) blocked(s engine.Scope, st plan.Step) bool {
	v := s.View()
	for _, dep := range st.DependsOn {
		if rec, ok := v.State.Record(dep); ok && rec.Status != plan.OK {
			return true
		}
	}
	return false
}

// skip marks the matching remaining steps as skipped. It repeats until none match,
// because a skipped step may block others.
func (b *batchRun) skip(s engine.Scope, why string, which func(plan.Step) bool) {
	for again := true; again; {
		again = false
		v := s.View()
		for st := range v.State.Open() {
			if slices.Contains(b.started, st.ID) || !which(st) {
				continue
			}
			b.started = append(b.started, st.ID)
			again = true
			s.Record(engine.StepEnded{Record: plan.StepRecord{
				ID: st.ID, Goal: st.Goal, Status: plan.Skipped, Error: why,
			}})
		}
	}
}
