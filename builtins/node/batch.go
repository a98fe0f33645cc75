package node

import (
	"errors"

	"github.com/pexctl/pex/builtins/node/planning"
	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/plan"
	"github.com/pexctl/pex/engine/stop"
)

// batchRun is one visit of the executor: it hands the steps whose dependencies
// are done to a few workers. Workers are branches of one run, so they share it
// without locks.
type batchRun struct {
	x       *executor
	format  string
	started map[string]bool
	quota   int // steps this visit may start
	running int
	over    int    // steps this visit has run to their end
	failed  string // id of the step that failed, once one did
	replan  error  // a guard's wish for a new plan: the last one
	stop    error  // what ended the visit, for all workers
}

// run works until nothing more is to start, then settles what a failure means.
func (b *batchRun) run(s engine.Scope, workers int) error {
	var err error
	if workers <= 1 || b.format != planning.FormatDag {
		err = b.work(s)
	} else {
		err = s.Parallel(workers, func(i int) string { return "" }, func(_ int, s engine.Scope) error { return b.work(s) })
	}
	if b.stop != nil {
		return b.stop
	}
	if err != nil {
		return err
	}
	if b.failed != "" && b.x.take == engine.AllSteps && b.x.cfg.OnStepError == onReflect {
		b.skip(s, "step "+b.failed+" failed before it", func(plan.Step) bool { return true })
	}
	if b.replan != nil {
		return b.replan
	}
	return b.x.outOfSteps(s)
}

// work takes ready steps, one after another.
func (b *batchRun) work(s engine.Scope) error {
	for {
		if b.stop != nil {
			return nil
		}
		st, ok := b.next(s)
		if !ok {
			if b.running == 0 || b.ended(s) {
				return nil
			}
			over := b.over
			if err := s.Await(func() bool { return b.over != over || b.stop != nil }); err != nil {
				return err
			}
			continue
		}
		b.started[st.ID] = true
		b.quota--
		b.running++
		rec, err := b.x.step(s, st, b)
		b.running--
		b.over++
		if err := b.consumed(s, rec, err); err != nil {
			return err
		}
	}
}

// consumed decides, by how a step ended, whether the visit continues.
func (b *batchRun) consumed(s engine.Scope, rec plan.StepRecord, err error) error {
	if errors.Is(err, engine.ErrReplan) {
		b.replan = err
		return nil // the guard decides what follows, not on_step_error
	}
	if err != nil {
		b.stop = err
		return err
	}
	if rec.Status == plan.OK {
		return nil
	}
	switch b.x.cfg.OnStepError {
	case onFail:
		b.stop = failedRun(rec)
		return b.stop
	case onContinue:
		b.skip(s, "it depends on step "+rec.ID+", which failed", func(st plan.Step) bool { return b.blocked(s, st) })
	default:
		b.failed = rec.ID
	}
	return nil
}

// failedRun is the end of a run that on_step_error makes of a failed step.
func failedRun(rec plan.StepRecord) error {
	if rec.Status == plan.Loop {
		return stop.AtLimit(stop.Loop, "executor.on_step_error", "step %s (%s) repeats itself: %s", rec.ID, rec.Goal, rec.Error)
	}
	return failed(rec, "executor.on_step_error", "step %s (%s) ended %s: %s", rec.ID, rec.Goal, rec.Status, rec.Error)
}

// failed ends the run by a failed step: step_failed, or provider_error where a
// model call failed it.
func failed(rec plan.StepRecord, path, format string, args ...any) error {
	if rec.Failure != nil {
		return stop.ProviderFailed(rec.Failure, path, format, args...)
	}
	return stop.Fail(stop.StepFailed, path, format, args...)
}

// ended says that no further step may start in this visit.
func (b *batchRun) ended(s engine.Scope) bool {
	v := s.View()
	return b.quota <= 0 || b.replan != nil || b.failed != "" || v.State.Executed >= v.Program.Limits.MaxSteps
}

// next is the first remaining step that is ready.
func (b *batchRun) next(s engine.Scope) (plan.Step, bool) {
	if b.ended(s) {
		return plan.Step{}, false
	}
	v := s.View()
	for st := range v.State.Open() {
		if b.started[st.ID] {
			if b.format != planning.FormatDag {
				return plan.Step{}, false // in order
			}
			continue
		}
		if b.depsDone(v, st) || b.format != planning.FormatDag {
			return st, true
		}
	}
	return plan.Step{}, false
}

// ready counts the steps that could start now.
func (b *batchRun) ready(s engine.Scope) int {
	v := s.View()
	if b.format != planning.FormatDag {
		return 1
	}
	n := 0
	for st := range v.State.Open() {
		if b.depsDone(v, st) {
			n++
		}
	}
	return max(n, 1)
}

// depsDone says that every dependency has ended, however it did: a step whose
// dependency failed runs, and its prompt says so, unless continue has skipped it.
func (b *batchRun) depsDone(v engine.View, st plan.Step) bool {
	for _, dep := range st.DependsOn {
		if !v.State.Done(dep) {
			return false
		}
	}
	return true
}

// blocked says that a dependency of the step did not end ok.
func (b *batchRun) blocked(s engine.Scope, st plan.Step) bool {
	for _, dep := range st.DependsOn {
		if rec, ok := s.View().State.Record(dep); ok && rec.Status != plan.OK {
			return true
		}
	}
	return false
}

// skip marks the remaining steps that fit as skipped, and goes round until none
// fits: a step that was skipped may block others.
func (b *batchRun) skip(s engine.Scope, why string, which func(plan.Step) bool) {
	for again := true; again; {
		again = false
		for st := range s.View().State.Open() {
			if b.started[st.ID] || !which(st) {
				continue
			}
			b.started[st.ID] = true
			again = true
			s.Record(engine.StepEnded{Record: plan.StepRecord{
				ID: st.ID, Goal: st.Goal, Status: plan.Skipped, Error: why,
			}})
		}
	}
}
