package manager

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"slices"
	"time"

	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/interrupt"
	"github.com/pexctl/pex/engine/runs"
)

// Answer is an answer to an open question.
type Answer struct {
	Path   string
	Do     string // see runs.Answer
	Value  string
	Digest string // of the question that the client saw; "" = not checked
}

// plain returns the answer without its digest.
func (a Answer) plain() runs.Answer { return runs.Answer{Path: a.Path, Do: a.Do, Value: a.Value} }

// Digest identifies the content of a question.
func Digest(q interrupt.Question) string {
	b, _ := q.Journaled() // a question that was asked encodes
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:8])
}

// askWait bounds how long an answer waits for a session to ask the question that its
// journal has open.
const askWait = 5 * time.Second

// Answer answers a question of a run. It returns once the answer is durable. If the run
// waits in its journal, it continues in the background, whatever the slots, once no other run
// of its conversation executes. The error is a *BusyError if that takes too long, or a
// *DecidedError, *NotOpenError, *ChangedError, *runs.AnswerError, *runs.ActionError,
// *runs.UnresolvedWriteError or *interrupt.NotApproverError
// if the answer does not count, and ErrClosing if nothing can be said yet.
func (m *Manager) Answer(ctx context.Context, run string, answer Answer, by engine.Actor) error {
	ctx, cancel := context.WithTimeout(ctx, askWait)
	defer cancel()
	for ctx.Err() == nil {
		a := m.find(run)
		if a == nil {
			err := m.resumeWith(ctx, run, answer, by)
			if errors.As(err, new(*RunningError)) { // another client has just resumed or cancelled it
				pause(ctx)
				continue
			}
			return err
		}
		done, err := m.answerLive(ctx, a, answer, by)
		if done || err != nil {
			return err
		}
	}
	return ctx.Err()
}

// answerLive answers a question of an active run. done is false if its session has ended
// without the decision, or has not asked yet.
func (m *Manager) answerLive(ctx context.Context, a *activeRun, answer Answer, by engine.Actor) (done bool, err error) {
	p, first, err := a.inbox.give(answer.Path, answer.Digest, func(q interrupt.Question) (json.RawMessage, error) { return decide(q, answer, by) }, by)
	if errors.Is(err, errChanged) {
		return false, &ChangedError{a.run, answer.Path}
	}
	if err != nil {
		return false, err
	}
	if p == nil {
		if err := m.open(ctx, a.run, answer.Path); err != nil {
			return false, err
		}
		if err := m.enter(ctx, a); err != nil { // a queued run does not wait for its turn
			return false, err
		}
		pause(ctx) // the journal has it open, so the session is starting, or ending
		return false, nil
	}
	select {
	case <-p.decided:
		if first {
			return true, nil
		}
		return false, m.decided(ctx, a.run, answer.Path)
	case <-a.done:
		return first && p.isDecided(), nil
	case <-ctx.Done():
		return false, ctx.Err()
	}
}

// decide returns the decision of an answer to a question. The error is also an
// *interrupt.NotApproverError if by may not give it.
func decide(q interrupt.Question, answer Answer, by engine.Actor) (json.RawMessage, error) {
	decision, err := answer.plain().Decide(q.Kind)
	if err != nil {
		return nil, err
	}
	var d interrupt.Decision
	if err := json.Unmarshal(decision, &d); err != nil {
		return nil, err
	}
	return decision, q.Permit(by, d.Do)
}

// pause waits until it makes sense to look again.
func pause(ctx context.Context) {
	select {
	case <-time.After(20 * time.Millisecond):
	case <-ctx.Done():
	}
}

// open returns nil if the journal of a run has an open question at a path. Otherwise the
// error says why there is none.
func (m *Manager) open(ctx context.Context, run, path string) error {
	r, err := m.o.Runs.Read(run)
	if err != nil {
		return err
	}
	res := r.Show(ctx)
	if slices.ContainsFunc(res.Interrupts, func(q interrupt.Question) bool { return q.Path == path }) {
		return nil
	}
	return closed(run, path, res)
}

// decided returns the *DecidedError about a question.
func (m *Manager) decided(ctx context.Context, run, path string) error {
	r, err := m.o.Runs.Read(run)
	if err != nil {
		return err
	}
	return closed(run, path, r.Show(ctx))
}

// closed returns why there is no open question at a path.
func closed(run, path string, res *engine.Result) error {
	for _, d := range res.Decisions {
		if d.Path == path {
			return &DecidedError{run, d}
		}
	}
	return &NotOpenError{run, path}
}

// Cancel ends a run. It returns once the request is stored; the run ends in the background.
// The error is a *runs.EndedError if it has ended. A run that had ended and was resumed, but
// is queued, stays as it is.
func (m *Manager) Cancel(ctx context.Context, run string, by engine.Actor) error {
	for {
		r, err := m.o.Runs.Read(run)
		if err != nil {
			return err
		}
		if !r.Ended() {
			return m.cancel(run, by)
		}
		a := m.find(run)
		if a == nil || a.slot.Granted() {
			return &runs.EndedError{Result: r.Show(ctx)}
		}
		a.cancel.Do(func() { close(a.cancelled) })
		select {
		case <-a.done:
			return nil
		case <-a.slot.Ready(): // it may continue nevertheless
			pause(ctx)
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// cancel stores a request to cancel a run, and carries it out in the background.
func (m *Manager) cancel(run string, by engine.Actor) error {
	who, err := json.Marshal(by)
	if err != nil {
		return err
	}
	m.mu.Lock()
	if m.closing {
		m.mu.Unlock()
		return ErrClosing
	}
	m.working.Add(1)
	a := m.active[run]
	m.mu.Unlock()
	if err := m.o.Runs.Home().RequestCancel(run, who); err != nil {
		m.working.Done()
		return err
	}
	if a != nil {
		a.cancel.Do(func() { close(a.cancelled) })
	}
	go func() {
		defer m.working.Done()
		res, err := m.o.Runs.As(by).Cancel(m.ctx, run)
		if res != nil {
			m.costs.settle(run, res.Usage.CostUSD)
		}
		if err != nil && m.ctx.Err() == nil && !errors.As(err, new(*runs.EndedError)) && !errors.As(err, new(*runs.NotFoundError)) {
			m.log(run, "cancel a run", err)
		}
		if m.o.Outbox != nil {
			m.o.Outbox.CatchUp(run)
		}
	}()
	return nil
}
