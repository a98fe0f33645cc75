package manager

import (
	"context"
	"errors"

	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/journal"
	"github.com/pexctl/pex/engine/runs"
)

// inUseTries is how often an operation tries to open a run that something has open: a
// request to cancel it or a message to it has for a moment, another process that executes
// it has for long.
const inUseTries = 10

// Message sends a message to a run, and returns once it is durable. A run that executes
// sees it at its next model call; one that is queued, suspended or waits for an answer sees
// it when it continues. The error is a *runs.MessageError or *runs.MessageConflictError if
// the run cannot accept the message, a *runs.EndedError if it has ended, and a
// *journal.InUseError if another process executes it.
func (m *Manager) Message(ctx context.Context, run string, msg runs.Message, by engine.Actor) error {
	ctx, cancel := context.WithTimeout(ctx, askWait)
	defer cancel()
	for tries := 0; ctx.Err() == nil; {
		a := m.find(run)
		if a != nil && a.slot.Granted() {
			err := a.messages.Send(ctx, run, msg, by)
			if !errors.Is(err, runs.ErrInboxClosed) {
				return err
			}
			select {
			case <-a.done: // then the journal accepts it, or the run has ended
			case <-ctx.Done():
			}
			continue
		}
		err := m.o.Runs.As(by).Message(ctx, run, msg)
		if !errors.As(err, new(*journal.InUseError)) {
			return err
		}
		if a == nil && m.find(run) == nil {
			if tries++; tries == inUseTries {
				return err
			}
		}
		pause(ctx)
	}
	return ctx.Err()
}
