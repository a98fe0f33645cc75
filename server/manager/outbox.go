package manager

import (
	"context"

	"github.com/pexctl/pex/engine"
)

// Outbox sends events of runs elsewhere. Its methods must be safe for concurrent use.
type Outbox interface {
	// Attach is called before a session of a run that this process executes. Once it has
	// returned, no event of the session may be lost, even if the process is killed. isNew
	// says that the run has no journal yet; Stored is then called when it has one.
	Attach(ctx context.Context, in engine.Input, isNew bool) (Attachment, error)
	// CatchUp is called after a run has changed without a session.
	CatchUp(run string)
}

// Attachment is the sink of all events of a run that has a session, in order. Its methods
// must not block.
type Attachment interface {
	engine.Sink
	engine.ReplaySink
	Stored() error // returns once no event may be lost even if the machine fails
	Close()
	Discard() // instead of Close, if the run could not be stored
}

// attach attaches a run to the outbox, unless it is.
func (m *Manager) attach(ctx context.Context, a *activeRun, in engine.Input, isNew bool) error {
	if m.o.Outbox == nil || a.hooks != nil {
		return nil
	}
	hooks, err := m.o.Outbox.Attach(ctx, in, isNew)
	if err == nil {
		a.hooks = hooks
	}
	return err
}

// stored waits until the outbox has stored a new run.
func (a *activeRun) stored() error {
	if a.hooks == nil {
		return nil
	}
	return a.hooks.Stored()
}

// detach undoes attach for a run that could not be stored.
func (a *activeRun) detach() {
	if a.hooks != nil {
		a.hooks.Discard()
		a.hooks = nil
	}
}

// sinks returns where the events of a run go.
func (a *activeRun) sinks() []engine.Sink {
	if a.hooks == nil {
		return []engine.Sink{a.feed}
	}
	return []engine.Sink{a.feed, a.hooks}
}
