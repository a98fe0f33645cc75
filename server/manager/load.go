package manager

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"
)

// Load returns how many runs of the tenant execute and wait for their turn.
func (m *Manager) Load() (running, queued int) { return m.o.Slots.TenantLoad(m.o.Tenant) }

// openCache has how many questions are open of runs that nothing executes.
type openCache struct {
	changed atomic.Bool // a run of this process started or ended since
	mu      sync.Mutex
	n       int
	at      time.Time // when they were counted
}

// recount is how often questions are counted again although no run of this process started or
// ended: another process may have answered them.
const recount = 10 * time.Second

// CountQuestions returns how many questions of the tenant's runs wait for an answer. It is fast
// unless runs that wait have started or ended.
func (m *Manager) CountQuestions(ctx context.Context) (n int) {
	m.mu.Lock()
	for _, a := range m.active {
		n += a.inbox.count()
	}
	m.mu.Unlock()
	c := &m.openCount
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.changed.Swap(false) && time.Since(c.at) < recount {
		return n + c.n
	}
	ids, err := m.o.Runs.Unfinished()
	if err != nil {
		return n
	}
	c.n, c.at = 0, time.Now()
	for _, run := range ids {
		if m.find(run) == nil {
			sum := m.o.Runs.Summary(ctx, run)
			c.n += sum.Interrupts
		}
	}
	return n + c.n
}

// count returns how many questions wait for an answer.
func (b *inbox) count() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	n := len(b.left)
	for _, p := range b.open {
		if !p.taken {
			n++
		}
	}
	return n
}

// The limits that refuse runs, as keys of the server file or the spec.
const (
	limitCostPerDay    = "cost_per_day"
	limitMaxCost       = "max_cost"
	limitRunsPerMinute = "runs_per_minute"
	limitQueuedRuns    = "queued_runs"
)

// countRefusal reports the limit that refused a run, if an error says so.
func (m *Manager) countRefusal(err error) {
	if err == nil || m.o.Refused == nil {
		return
	}
	switch {
	case errors.As(err, new(*QuotaError)):
		m.o.Refused(limitCostPerDay)
	case errors.As(err, new(*CostLimitError)):
		m.o.Refused(limitMaxCost)
	case errors.As(err, new(*RateError)):
		m.o.Refused(limitRunsPerMinute)
	case errors.Is(err, ErrQueueFull):
		m.o.Refused(limitQueuedRuns)
	}
}
