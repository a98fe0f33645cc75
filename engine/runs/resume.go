package runs

import (
	"context"
	"strings"

	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/journal"
	"github.com/pexctl/pex/engine/runtime"
)

// ResumeOptions are the options of Resume. The zero value only continues the run.
type ResumeOptions struct {
	Answers  []Answer // to open questions
	Set      []string // limits to raise: limits.NAME=VALUE
	KeepSpec bool     // continue with the original spec even if its file has changed
	Unready  bool     // continue even if an API key is missing, so that model calls fail
}

// Resume locks a run and prepares it to continue: after a crash, with answers to its
// questions, or with higher limits. The error is an *EndedError if nothing is left to
// execute; a *SpecChangedError, *AnswerError, *ActionError, *QuestionError, *UnresolvedWriteError or
// *LimitError if the terms are not valid for the run; a *journal.InUseError if a process
// executes the run.
func (s *Service) Resume(ctx context.Context, run string, t ResumeOptions) (*Session, error) {
	se, r, err := s.reopen(run)
	if err != nil {
		return nil, err
	}
	if err := se.prepare(ctx, r, t); err != nil {
		_ = se.Close() // the first error matters more
		return nil, err
	}
	return se, nil
}

// reopen locks a run and reads it.
func (s *Service) reopen(run string) (*Session, *Run, error) {
	r, err := s.Read(run) // the program determines the durability of the journal
	if err != nil {
		return nil, nil, err
	}
	se := &Session{Program: r.Program, Input: r.Start.Input, Host: r.Host, svc: s}
	if err := se.open((*journal.Home).Open); err != nil {
		return nil, nil, err
	}
	if r.Records, err = se.file.Load(); err != nil { // another session may have ended meanwhile
		_ = se.Close()
		return nil, nil, s.asNotFound(run, err)
	}
	return se, r, nil
}

// prepare validates the terms against the state of the run and applies them.
func (se *Session) prepare(ctx context.Context, r *Run, t ResumeOptions) error {
	env, ended := &se.svc.env, r.Ended()
	se.ended = ended
	res := r.replay(ctx, runtime.Options{Conversation: true})
	answers, err := assignPaths(r, res, t.Answers)
	if err != nil {
		return err
	}
	if ended && len(t.Set) > 0 && !res.StopReason.Extendable() {
		return &LimitError{Run: res.RunID, Stop: res.StopReason}
	}
	if ended && len(t.Set) == 0 {
		return &EndedError{res}
	}
	if !t.KeepSpec {
		if err := env.checkSpecUnchanged(r); err != nil {
			return err
		}
	}
	if env.Ready != nil && !t.Unready && CallsModels(se.Input.From) {
		if err := env.Ready(r.Program, r.Start); err != nil {
			return err
		}
	}
	if err := se.applyLimits(r, res, t.Set); err != nil {
		return err
	}
	if from := se.Input.From; from != nil {
		recs, err := se.svc.Source(from)
		if err != nil {
			return &RecordingError{res.RunID, err}
		}
		se.options.Recorded = se.recording(recs)
		se.options.Recorded.Resume(r.Records)
	}
	return se.decide(r, res, answers)
}

// checkSpecUnchanged returns a *SpecChangedError if the spec has changed since the run started.
func (e *Env) checkSpecUnchanged(r *Run) error {
	origin := r.Start.Input.Origin
	if origin.Spec == "" || e.Current == nil {
		return nil
	}
	now, err := e.Current(origin)
	changed := &SpecChangedError{Run: r.Start.Input.RunID, Spec: origin.Spec, Before: r.Start.Program, Err: err}
	switch {
	case err != nil:
		return changed
	case now == nil || now.Digest == r.Start.Digest:
		return nil
	}
	changed.After = now.Source
	return changed
}

// applyLimits applies higher limits: those set by earlier sessions, then sets.
func (se *Session) applyLimits(r *Run, res *engine.Result, sets []string) error {
	se.Limits = r.Limits()
	if len(sets) == 0 {
		return nil
	}
	for _, set := range sets {
		if !strings.HasPrefix(set, "limits.") {
			return &LimitError{Run: res.RunID, Set: set}
		}
	}
	raised, err := se.svc.env.Compile(r.Start, append(runtime.Raises(r.Records), sets...)...)
	if err != nil {
		return err
	}
	if r.Ended() && !raised.Limits.Wider(se.Limits, res.StopReason.Code) {
		return &LimitError{Run: res.RunID, Stop: res.StopReason}
	}
	se.Limits = raised.Limits
	se.options.Extension = &runtime.LimitExtension{Limits: raised.Limits, Set: sets, Spent: res.Usage.ByModel, Lost: res.LostCharges}
	return nil
}
