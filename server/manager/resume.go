package manager

import (
	"context"
	"errors"
	"slices"

	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/interrupt"
	"github.com/pexctl/pex/engine/journal"
	"github.com/pexctl/pex/engine/runs"
	"github.com/pexctl/pex/engine/stop"
)

// Resume continues a run that is suspended, or stopped at a limit that set raises, in the
// background. It waits for its turn as a new run does. The errors are those of
// runs.Service.Resume, a *RunningError, ErrQueueFull, a *QuotaError, a *CostLimitError and
// ErrClosing. If the server stops before it is its turn, a run that had ended stays as it is.
func (m *Manager) Resume(ctx context.Context, run string, set []string, keepSpec bool, by engine.Actor) error {
	start, err := m.o.Runs.StartOf(run)
	if err != nil {
		return err
	}
	m.logStarted(ctx, start.Input, false)
	slot, err := m.o.Slots.Queue(m.o.Tenant, start.Input.MemoryID)
	if err != nil {
		m.countRefusal(err)
		return err
	}
	a, err := m.registerResumed(start, slot)
	if err != nil {
		return err
	}
	if sum := m.o.Runs.Summary(ctx, run); hasEnded(&sum) {
		a.ended = sum.Status
	}
	session, err := m.openSession(ctx, a, runs.ResumeOptions{Set: set, KeepSpec: keepSpec}, by)
	if err != nil {
		return err
	}
	if slot.Granted() {
		go m.execute(a, session)
		return nil
	}
	if err := session.Close(); err != nil {
		m.log(run, "close a queued run", err)
	}
	a.set, a.by = set, &by
	go m.executeLater(a)
	return nil
}

// resumeWith resumes a run that waits in its journal with an answer, whatever the slots.
func (m *Manager) resumeWith(ctx context.Context, run string, answer Answer, by engine.Actor) error {
	r, err := m.o.Runs.Read(run)
	if err != nil {
		return err
	}
	res := r.Show(ctx)
	i := slices.IndexFunc(res.Interrupts, func(q interrupt.Question) bool { return q.Path == answer.Path })
	switch {
	case i < 0:
		return closed(run, answer.Path, res)
	case answer.Digest != "" && answer.Digest != Digest(res.Interrupts[i]):
		return &ChangedError{run, answer.Path}
	}
	a, p, err := m.resumeNow(ctx, r.Start, answer, by)
	if errors.As(err, new(*runs.QuestionError)) || errors.As(err, new(*runs.EndedError)) { // meanwhile
		return m.decided(ctx, run, answer.Path)
	}
	if err != nil {
		return err
	}
	select {
	case <-p.decided:
		return nil
	case <-a.done:
		if p.isDecided() {
			return nil
		}
		return m.decided(ctx, run, answer.Path) // it was cancelled first
	}
}

// resumeNow continues a run in the background, once no other run of its conversation
// executes. The answer is pending until its decision is durable.
func (m *Manager) resumeNow(ctx context.Context, start engine.Start, answer Answer, by engine.Actor) (*activeRun, *pending, error) {
	a, err := m.registerResumed(start, m.o.Slots.New(m.o.Tenant, start.Input.MemoryID))
	if err != nil {
		return nil, nil, err
	}
	if err := m.enter(ctx, a); err != nil {
		m.release(a, stop.RunInterrupted)
		return nil, nil, err
	}
	session, err := m.openSession(ctx, a, runs.ResumeOptions{KeepSpec: true, Answers: []runs.Answer{answer.plain()}}, by)
	if err != nil {
		return nil, nil, err
	}
	p := a.inbox.await(answer.Path)
	go m.execute(a, session)
	return a, p, nil
}

// registerResumed registers a run that exists. Without it, the slot is free again.
func (m *Manager) registerResumed(start engine.Start, slot *Slot) (*activeRun, error) {
	a, err := m.register(start.Input, slot, false)
	if err != nil {
		slot.Leave()
		return nil, err
	}
	close(a.begun)
	m.announce(start.Input)
	return a, nil
}

// openSession resumes a run, and reserves what it may cost if its limits are raised. If it
// cannot continue, it is released. The error is a *RunningError if another process executes it.
func (m *Manager) openSession(ctx context.Context, a *activeRun, o runs.ResumeOptions, by engine.Actor) (*runs.Session, error) {
	session, err := m.resumeFree(ctx, a.run, o, by)
	if err == nil && len(o.Set) > 0 {
		if err = m.costs.reserve(ctx, a.run, session.Program, session.Limits); err != nil {
			m.countRefusal(err)
			err = errors.Join(err, session.Close())
		}
	}
	if err == nil {
		return session, nil
	}
	status := stop.RunInterrupted
	if ended, ok := errors.AsType[*runs.EndedError](err); ok {
		status = ended.Result.Status
	}
	m.release(a, status)
	if errors.As(err, new(*journal.InUseError)) {
		err = &RunningError{a.run}
	}
	return nil, err
}

// enter waits until no other run of the conversation executes. The error is a *BusyError if
// ctx ends first.
func (m *Manager) enter(ctx context.Context, a *activeRun) error {
	ctx, cancel := context.WithTimeout(ctx, askWait)
	defer cancel()
	defer context.AfterFunc(m.ctx, cancel)()
	err := a.slot.Enter(ctx)
	if err == nil {
		return nil
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, other := range m.active {
		if other != a && other.memory == a.memory && other.slot.Granted() {
			return &BusyError{a.memory, other.run}
		}
	}
	return err
}

// resumeFree resumes a run. It waits a moment for a message or a request to cancel that has
// the run open.
func (m *Manager) resumeFree(ctx context.Context, run string, o runs.ResumeOptions, by engine.Actor) (session *runs.Session, err error) {
	for range inUseTries {
		session, err = m.o.Runs.As(by).Resume(ctx, run, o)
		if !errors.As(err, new(*journal.InUseError)) {
			break
		}
		pause(ctx)
	}
	return session, err
}
