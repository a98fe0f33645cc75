package manager

import (
	"context"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/runs"
	"github.com/pexctl/pex/engine/stop"
	"github.com/pexctl/pex/server/feed"
)

// Options configure a Manager.
type Options struct {
	Runs       *runs.Service
	Slots      *Slots             // shared by the managers of all tenants
	Tenant     string             // for Slots
	CostPerDay float64            // USD that the runs of clients may cost per UTC day; 0 = no limit
	ParkAfter  time.Duration      // how long a live run waits for an answer before it frees its memory; 0 = not at all
	Outbox     Outbox             // of webhooks; nil = none
	Refused    func(limit string) // called when a limit refuses to start or continue a run; nil = not called
	Log        *slog.Logger       // of runs, and of errors that no client sees; nil = no log
}

// Manager executes the runs of one home. It is safe for concurrent use. Other processes may
// use the same home.
type Manager struct {
	o       Options
	ctx     context.Context // ends when the manager closes
	suspend context.CancelFunc
	working sync.WaitGroup

	metFull atomic.Bool // a run stopped because the disk was full

	mu        sync.Mutex
	closing   bool
	active    map[string]*activeRun
	changed   map[string]chan struct{} // by conversation that is watched; closed when a run of it starts or continues
	turns     map[string]*turnLock     // by conversation
	parked    parkedCache
	openCount openCount
	waiting   waitingIndex
	sources   sources

	received received
	costs    costs
}

// New returns the manager of the runs of a home.
func New(o Options) *Manager {
	m := &Manager{o: o, active: map[string]*activeRun{}, changed: map[string]chan struct{}{}, turns: map[string]*turnLock{}, costs: costs{limit: o.CostPerDay, runs: o.Runs}}
	m.costs.live = func(run string) bool { return m.find(run) != nil }
	m.ctx, m.suspend = context.WithCancel(context.Background())
	return m
}

// activeRun is a run that executes in this process, or is queued.
type activeRun struct {
	run       string
	agent     string         // see engine.Input
	memory    string         // conversation; "" = none
	isNew     bool           // nothing of it was executed before
	set       []string       // limits to raise when it is its turn
	by        *engine.Actor  // who resumed it; nil = the server
	ended     stop.RunStatus // its status, if it had ended before a client resumed it
	cancelled chan struct{}  // closed by the first request to cancel the run
	cancel    sync.Once
	open      int // questions in its journal, while nothing executes it
	slot      *Slot
	feed      *feed.Feed
	inbox     *inbox
	messages  runs.Inbox
	hooks     Attachment     // nil without an Outbox, and before a run that was resumed executes
	begun     chan struct{}  // closed when its start is durable, or could not be stored
	done      chan struct{}  // closed when its session has ended
	result    *engine.Result // set before done is closed, if the run completed or stopped
}

// The statuses of a run in addition to those of a result.
const (
	Queued    stop.RunStatus = "queued"    // it waits for its turn
	Suspended stop.RunStatus = "suspended" // the server is shutting down, and continues it at its next start
)

// register adds a run to the active ones. unwatched is for its feed. The error is a *RunningError if it is one, or
// ErrClosing.
func (m *Manager) register(in engine.Input, slot *Slot, unwatched bool) (*activeRun, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	switch {
	case m.closing:
		return nil, ErrClosing
	case m.active[in.RunID] != nil:
		return nil, &RunningError{in.RunID}
	}
	a := &activeRun{
		run: in.RunID, agent: in.Agent, memory: in.MemoryID, slot: slot, feed: feed.New(), inbox: newInbox(m.o.ParkAfter),
		cancelled: make(chan struct{}), begun: make(chan struct{}), done: make(chan struct{}),
	}
	a.feed.Earlier = func(ctx context.Context, to engine.Sink) { m.replay(ctx, in.RunID, to) }
	a.feed.Unwatched = unwatched
	m.active[in.RunID] = a
	a.open = m.openCount.take(in.RunID)
	m.working.Add(1)
	return a, nil
}

// release ends an active run. Its watchers learn the status.
func (m *Manager) release(a *activeRun, status stop.RunStatus) {
	m.waiting.add(a, status)
	m.mu.Lock()
	delete(m.active, a.run)
	m.mu.Unlock()
	if status == stop.RunInterrupted {
		m.openCount.put(a.run, a.open)
	}
	a.feed.End(string(status))
	a.messages.Close() // it may have had no session
	if a.hooks != nil {
		a.hooks.Close()
	}
	close(a.done)
	a.slot.Leave()
	m.working.Done()
}

// find returns an active run, or nil.
func (m *Manager) find(run string) *activeRun {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.active[run]
}

// Running reports whether a run executes in this process or is queued, and which of both.
func (m *Manager) Running(run string) (active, queued bool) {
	a := m.find(run)
	return a != nil, a != nil && !a.slot.Granted()
}

// Close suspends the runs: calls in flight may end within the grace time of the service.
// It returns once no run executes, or ctx ends.
func (m *Manager) Close(ctx context.Context) error {
	m.mu.Lock()
	m.closing = true
	m.mu.Unlock()
	m.suspend()
	done := make(chan struct{})
	go func() {
		m.working.Wait()
		close(done)
	}()
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
