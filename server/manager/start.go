package manager

import (
	"context"
	"errors"
	"maps"
	"slices"

	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/journal"
	"github.com/pexctl/pex/engine/runs"
	"github.com/pexctl/pex/engine/stop"
	"github.com/pexctl/pex/server/logs"
)

// OnBusy is what happens to a new run of a conversation whose latest run has not ended.
type OnBusy string

// The choices.
const (
	WaitBusy   OnBusy = "queue"  // it waits; the default
	RejectBusy OnBusy = "reject" // it is not started
	CancelBusy OnBusy = "cancel" // the other runs of the conversation are cancelled
)

// Start starts a run, or queues it, once its start is durable. If the run exists already
// and its Input.Request is the same, existed is true, otherwise the error is a
// *MismatchError. Further errors are a *BusyError, ErrQueueFull, a *RateError, a *QuotaError,
// a *CostLimitError and ErrClosing; nothing is stored then.
func (m *Manager) Start(ctx context.Context, n runs.NewRun, busy OnBusy) (existed bool, err error) {
	return m.StartWith(ctx, n, StartOptions{Busy: busy})
}

// StartOptions are the options of StartWith.
type StartOptions struct {
	Busy      OnBusy
	NewID     bool // the id was made for this run, so that no other has it
	Unwatched bool // the client does not watch the run
}

// StartWith is Start with options.
func (m *Manager) StartWith(ctx context.Context, n runs.NewRun, o StartOptions) (existed bool, err error) {
	if existed, err = m.start(ctx, n, o); err == nil {
		m.logStarted(ctx, n.Input, existed)
	}
	m.countRefusal(err)
	return existed, err
}

func (m *Manager) start(ctx context.Context, n runs.NewRun, o StartOptions) (existed bool, err error) {
	existed, a, err := m.admit(ctx, n, o)
	if a == nil {
		return existed, errors.Join(err, n.Host.Close())
	}
	session, err := m.create(ctx, a, n)
	close(a.begun)
	if err != nil {
		m.release(a, stop.RunFailed)
		if errors.As(err, new(*journal.ExistsError)) || errors.As(err, new(*journal.InUseError)) { // of another process
			if existed, why := m.Existing(n.Input); existed || why != nil {
				return existed, why
			}
		}
		return false, err
	}
	m.announce(n.Input)
	if a.slot.Granted() {
		go m.execute(a, session)
		return false, nil
	}
	if err := session.Close(); err != nil {
		m.log(a.run, "close a queued run", err)
	}
	a.isNew = true
	go m.executeLater(a)
	return false, nil
}

// admit registers a new run with a slot. It returns nil if the run is not to be started.
func (m *Manager) admit(ctx context.Context, n runs.NewRun, o StartOptions) (existed bool, a *activeRun, err error) {
	in := n.Input
	for {
		if !o.NewID {
			if found, err := m.Existing(in); found || err != nil {
				return found, nil, err
			}
		}
		if err := m.costs.check(ctx, n.Program); err != nil {
			return false, nil, err
		}
		if err := m.clear(ctx, in, o.Busy); err != nil {
			return false, nil, err
		}
		slot, err := m.o.Slots.Reserve(m.o.Tenant, in.MemoryID)
		if err != nil {
			return false, nil, err
		}
		a, err := m.register(in, slot, o.Unwatched)
		if err == nil {
			return false, a, nil
		}
		slot.Leave()
		if !errors.As(err, new(*RunningError)) {
			return false, nil, err
		}
		if other := m.find(in.RunID); other != nil { // a request with the same id was faster
			select {
			case <-other.begun:
			case <-ctx.Done():
				return false, nil, ctx.Err()
			}
		}
	}
}

// create creates the journal of a run. The start is durable when it returns.
func (m *Manager) create(ctx context.Context, a *activeRun, n runs.NewRun) (*runs.Session, error) {
	if err := m.keepSource(n.Input); err != nil {
		return nil, errors.Join(err, n.Host.Close())
	}
	if err := m.costs.reserve(ctx, n.Input.RunID, n.Program, n.Program.Limits); err != nil {
		return nil, errors.Join(err, n.Host.Close())
	}
	if err := m.attach(ctx, a, n.Input, true); err != nil {
		m.costs.settle(n.Input.RunID, 0)
		return nil, errors.Join(err, n.Host.Close())
	}
	session, err := m.o.Runs.Start(n)
	if err != nil {
		a.detach()
		m.costs.settle(n.Input.RunID, 0)
		return nil, errors.Join(err, n.Host.Close())
	}
	if err := errors.Join(session.Begin(), a.stored()); err != nil {
		a.detach()
		m.costs.settle(n.Input.RunID, 0)
		return nil, errors.Join(err, session.Discard())
	}
	return session, nil
}

// Existing reports whether the run exists, as Start does. The error is a *MismatchError if
// another request started it.
func (m *Manager) Existing(in engine.Input) (bool, error) {
	start, err := m.o.Runs.StartOf(in.RunID)
	if errors.As(err, new(*runs.NotFoundError)) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	if in.Request == "" || start.Input.Request != in.Request {
		return false, &MismatchError{in.RunID}
	}
	return true, nil
}

// clear applies a choice for a conversation with runs that have not ended. Only runs of the
// same agent are cancelled.
func (m *Manager) clear(ctx context.Context, in engine.Input, busy OnBusy) error {
	if in.MemoryID == "" || busy == "" || busy == WaitBusy {
		return nil
	}
	waiting, _, err := m.o.Runs.List(ctx, runs.Filter{MemoryID: in.MemoryID, Waiting: true})
	if err != nil {
		return err
	}
	others := map[string]string{} // agents by run
	for _, sum := range waiting {
		others[sum.Run] = sum.Agent
	}
	m.mu.Lock()
	for _, a := range m.active {
		if a.memory == in.MemoryID {
			others[a.run] = a.agent
		}
	}
	m.mu.Unlock()
	delete(others, in.RunID)
	by := engine.Actor{}
	if in.By != nil {
		by = *in.By
	}
	for _, run := range slices.Sorted(maps.Keys(others)) {
		if busy == RejectBusy {
			return &BusyError{in.MemoryID, run}
		}
		if others[run] != in.Agent {
			continue
		}
		if err := m.Cancel(ctx, run, by); err != nil && !errors.As(err, new(*runs.EndedError)) {
			return err
		}
	}
	return nil
}

// executeLater continues a queued run when it is its turn.
func (m *Manager) executeLater(a *activeRun) {
	select {
	case <-a.slot.Ready():
	case <-a.cancelled:
		a.slot.Leave() // another run may have the slot meanwhile
		a.set = nil
	case <-m.ctx.Done():
	}
	if m.ctx.Err() != nil {
		m.abandon(a)
		return
	}
	session, err := m.reopen(a)
	if ended, ok := errors.AsType[*runs.EndedError](err); ok && a.ended == "" { // it was cancelled
		m.replay(m.ctx, a.run, a.sinks()...)
		m.costs.settle(a.run, ended.Result.Usage.CostUSD)
		m.release(a, ended.Result.Status)
		return
	}
	if ok := errors.As(err, new(*runs.EndedError)); ok { // its resumption was cancelled
		m.abandon(a)
		return
	}
	if err != nil {
		if errors.Is(err, journal.ErrFull) {
			m.metFull.Store(true)
		}
		m.log(a.run, "resume a queued run", err)
		m.abandon(a)
		return
	}
	m.execute(a, session)
}

// reopen resumes a run. It waits while a request to cancel the run, or a command that looks at
// it, has it open. A new run without an API key fails, as if it had not been queued; others
// stay suspended, since a restart with the key can continue them.
func (m *Manager) reopen(a *activeRun) (*runs.Session, error) {
	service := m.o.Runs
	if a.by != nil {
		service = service.As(*a.by)
	}
	for {
		session, err := service.Resume(m.ctx, a.run, runs.ResumeOptions{KeepSpec: true, Unready: a.isNew, Set: a.set})
		if m.ctx.Err() != nil || !errors.As(err, new(*journal.InUseError)) {
			return session, err
		}
		pause(m.ctx)
	}
}

// abandon releases a queued run that does not continue now. If it had ended before, it stays
// as it is.
func (m *Manager) abandon(a *activeRun) {
	if a.ended == "" {
		m.release(a, Suspended)
		return
	}
	m.costs.settle(a.run, 0) // its cost was counted when it ended
	m.release(a, a.ended)
}

// execute executes a session to its end.
func (m *Manager) execute(a *activeRun, session *runs.Session) {
	if err := m.attach(m.ctx, a, session.Input, false); err != nil {
		m.log(a.run, "no webhooks are sent for a run", err)
	}
	sinks := a.sinks()
	if s := logs.Sink(m.o.Log, logs.Run{ID: a.run, Tenant: m.o.Tenant, Caller: session.Input.Trace}); s != nil {
		sinks = append(sinks, s)
	}
	res := session.Run(m.ctx, runs.Observer{
		Sinks: sinks, Responder: a.inbox, Stream: true, Decided: a.inbox.decided, Inbox: &a.messages,
	})
	if err := session.Close(); err != nil {
		m.log(a.run, "close a run", err)
	} else if res.Status == stop.RunCompleted || res.Status == stop.RunStopped {
		a.result = res
	}
	if res.StopReason.Code == stop.StoreFull {
		m.metFull.Store(true)
	}
	if res.Status != stop.RunInterrupted {
		m.costs.settle(a.run, res.Usage.CostUSD)
	}
	a.open = len(res.Interrupts)
	status := res.Status
	if res.StopReason.Code == stop.Suspended { // interrupted means that it waits for an answer
		status = Suspended
	}
	m.release(a, status)
}

// logStarted adds a run to the log of the request that started it, or repeats its start.
func (m *Manager) logStarted(ctx context.Context, in engine.Input, existed bool) {
	run := logs.Run{ID: in.RunID, Tenant: m.o.Tenant, Caller: in.Trace}
	if existed {
		start, err := m.o.Runs.StartOf(in.RunID)
		run.Caller, run.IsUnread = start.Input.Trace, err != nil
	}
	logs.Started(ctx, run)
}

// log logs what the server could not do with a run.
func (m *Manager) log(run, doing string, err error) {
	if m.o.Log == nil {
		return
	}
	start, unread := m.o.Runs.StartOf(run)
	logs.Error(m.o.Log, logs.Run{ID: run, Tenant: m.o.Tenant, Caller: start.Input.Trace, IsUnread: unread != nil}, doing, err)
}
