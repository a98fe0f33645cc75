package manager

import (
	"context"
	"errors"
	"os"
	"sync"
	"time"

	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/journal"
	"github.com/pexctl/pex/engine/runs"
)

// Remove removes a run that nothing executes. The error is a *RunningError, or one of
// runs.Service.CheckRemovable.
func (m *Manager) Remove(ctx context.Context, run string, force bool) error {
	if m.find(run) != nil {
		return &RunningError{run}
	}
	if err := m.o.Runs.CheckRemovable(ctx, []string{run}, force); err != nil {
		return err
	}
	if err := m.o.Runs.Remove(run); err != nil {
		return err
	}
	m.costs.settle(run, 0)
	return nil
}

// RemoveEnded removes the runs that ended before a time, except those that a run which has
// not ended replays. It returns how many it removed.
func (m *Manager) RemoveEnded(ctx context.Context, before time.Time) (n int, err error) {
	m.sources.begin()
	all, err := m.o.Runs.Summaries(ctx)
	if err != nil {
		return 0, err
	}
	needed := m.replayed(all)
	for _, sum := range all {
		if ctx.Err() != nil {
			return n, ctx.Err()
		}
		if !hasEnded(sum) || sum.Problem != "" || needed[sum.Run] || !sum.StartedAt.Before(before) || !m.unchangedSince(sum.Run, before) {
			continue
		}
		err := m.sources.unlessUsed(sum.Run, func() error { return m.Remove(ctx, sum.Run, false) })
		switch {
		case err == nil:
			n++
		case errors.Is(err, errUsed):
		case errors.As(err, new(*RunningError)), errors.As(err, new(*journal.InUseError)),
			errors.As(err, new(*runs.StillNeededError)), errors.As(err, new(*runs.NotFoundError)): // meanwhile resumed, or removed
		default:
			return n, err
		}
	}
	return n, nil
}

// replayed returns the runs that runs which have not ended replay.
func (m *Manager) replayed(all []*runs.Summary) map[string]bool {
	needed := map[string]bool{}
	for _, sum := range all {
		if hasEnded(sum) {
			continue
		}
		if start, err := m.o.Runs.StartOf(sum.Run); err == nil && start.Input.From != nil {
			needed[start.Input.From.Run] = true
		}
	}
	return needed
}

// sources are the runs that new runs replay. They keep RemoveEnded from removing a run
// that is replayed since it read which ones are.
type sources struct {
	mu           sync.Mutex
	before, used map[string]bool // by the runs since the last RemoveEnded but one
}

// errUsed is returned for a run that a new one replays.
var errUsed = errors.New("a new run replays the run")

// keepSource keeps the run that a new run replays. It fails if that does not exist any more.
func (m *Manager) keepSource(in engine.Input) error {
	if in.From == nil {
		return nil
	}
	s := &m.sources
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, err := m.o.Runs.StartOf(in.From.Run); err != nil {
		return err
	}
	if s.used == nil {
		s.used = map[string]bool{}
	}
	s.used[in.From.Run] = true
	return nil
}

// begin drops the runs of before the last call: the runs that replay them are stored.
func (s *sources) begin() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.before, s.used = s.used, nil
}

// unlessUsed calls remove for a run, unless it is used.
func (s *sources) unlessUsed(run string, remove func() error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.before[run] || s.used[run] {
		return errUsed
	}
	return remove()
}

// unchangedSince reports whether the journal of a run exists and was not written at a time or
// later.
func (m *Manager) unchangedSince(run string, at time.Time) bool {
	info, err := os.Stat(m.o.Runs.Home().File(run))
	return err == nil && info.ModTime().Before(at)
}
