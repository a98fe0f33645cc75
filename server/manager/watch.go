package manager

import (
	"context"
	"errors"
	"iter"

	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/runs"
	"github.com/pexctl/pex/engine/stop"
	"github.com/pexctl/pex/server/feed"
)

// Watch returns the events of a run behind a cursor, and then those that happen, until the
// run ends, waits, or is suspended, or ctx ends. With deltas it includes transient events.
// The error is a *runs.NotFoundError, or one of feed for an invalid cursor.
func (m *Manager) Watch(ctx context.Context, run string, after feed.Cursor, deltas bool) (iter.Seq[feed.Item], error) {
	f, err := m.feedOf(ctx, run)
	if err != nil {
		return nil, err
	}
	if err := f.Check(ctx, after); err != nil {
		return nil, err
	}
	return f.Watch(ctx, after, deltas), nil
}

// feedOf returns the feed of an active run, or one that is filled from the journal.
func (m *Manager) feedOf(ctx context.Context, run string) (*feed.Feed, error) {
	if a := m.find(run); a != nil {
		return a.feed, nil
	}
	f := feed.New()
	r, err := m.o.Runs.Read(run)
	if err != nil {
		return nil, err
	}
	if r.Running {
		go m.follow(ctx, run, f)
		return f, nil
	}
	f.End(string(r.Watch(ctx, nil, f).Status))
	return f, nil
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

// replay sends the events of a run that are in its journal to sinks.
func (m *Manager) replay(ctx context.Context, run string, to ...engine.Sink) {
	r, err := m.o.Runs.Read(run)
	if err != nil {
		m.log(run, "read a run", err)
		return
	}
	r.Watch(ctx, nil, to...)
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

// AwaitResult returns true once a run neither executes in this process nor is queued, or waits
// for an answer. It returns false if ctx ends first. If the run ended meanwhile, res is its
// result, which the caller must not change.
func (m *Manager) AwaitResult(ctx context.Context, run string) (res *engine.Result, ok bool) {
	a := m.find(run)
	if a == nil {
		return nil, true
	}
	select {
	case <-a.done:
		return a.result, true
	case <-a.inbox.waiting():
		return nil, true
	case <-ctx.Done():
		return nil, false
	}
}
