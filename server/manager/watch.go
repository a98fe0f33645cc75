package manager

import (
	"context"
	"errors"
	"iter"

	"github.com/pexctl/pex/engine/runs"
	"github.com/pexctl/pex/engine/stop"
	"github.com/pexctl/pex/server/feed"
)

// Watch returns the events of a run behind a cursor, and then those that happen, until the
// run ends, waits, or is suspended, or ctx ends. With deltas it includes transient events.
// The error is a *runs.NotFoundError, or one of feed for an invalid cursor.
func (m *Manager) Watch(ctx context.Context, run string, after feed.Cursor, deltas bool) (iter.Seq[feed.Item], error) {
	if a := m.find(run); a != nil {
		return a.feed.Watch(ctx, after, deltas), nil
	}
	f := feed.New()
	r, err := m.o.Runs.Read(run)
	if err != nil {
		return nil, err
	}
	if !r.Running {
		res := r.Watch(ctx, nil, f)
		f.End(string(res.Status))
		return f.Watch(ctx, after, deltas), nil
	}
	go m.follow(ctx, run, f)
	return f.Watch(ctx, after, deltas), nil
}

// follow sends the events of a run that another process executes to a feed.
func (m *Manager) follow(ctx context.Context, run string, f *feed.Feed) {
	for {
		res, err := m.o.Runs.Follow(ctx, run, f)
		switch {
		case errors.Is(err, runs.ErrRewound):
			continue
		case err != nil:
			f.End(string(stop.RunInterrupted))
			return
		}
		f.End(string(res.Status))
		return
	}
}

// fill sends the events of a run that nothing executes to its feed.
func (m *Manager) fill(ctx context.Context, run string, f *feed.Feed) {
	r, err := m.o.Runs.Read(run)
	if err != nil {
		m.log(run, "read a run", err)
		return
	}
	r.Watch(ctx, nil, f)
}

// Await returns once a run neither executes in this process nor is queued, or ctx ends.
func (m *Manager) Await(ctx context.Context, run string) {
	a := m.find(run)
	if a == nil {
		return
	}
	select {
	case <-a.done:
	case <-ctx.Done():
	}
}
