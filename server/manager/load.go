package manager

import (
	"context"
	"errors"
	"maps"
	"sync"
	"time"
)

// Load returns how many runs of the tenant execute and wait for their turn.
func (m *Manager) Load() (running, queued int) { return m.o.Slots.TenantLoad(m.o.Tenant) }

// openCount has how many questions are open of runs that nothing executes, by run. It follows
// the runs of this process, and is read again for those of others.
type openCount struct {
	mu      sync.Mutex
	of      map[string]int // nil = not read
	at      time.Time      // when it was read
	reading bool
}

// recount is how often the questions are counted again, as other processes may have answered some.
const recount = 10 * time.Second

// CountQuestions returns how many questions of the tenant's runs wait for an answer. Only the first
// call reads the home. Later ones have it read in the background, at most every 10 seconds.
func (m *Manager) CountQuestions(ctx context.Context) (n int) {
	c := &m.openCount
	c.mu.Lock()
	isFirst, isOld := c.of == nil, time.Since(c.at) >= recount && !c.reading
	c.mu.Unlock()
	if isFirst {
		m.readQuestions(ctx)
	} else if isOld {
		m.inBackground(func() { m.readQuestions(m.ctx) })
	}
	m.mu.Lock()
	for _, a := range m.active {
		n += a.inbox.count()
	}
	m.mu.Unlock()
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, questions := range c.of {
		n += questions
	}
	return n
}

// inBackground runs do, unless the manager closes, which waits for it.
func (m *Manager) inBackground(do func()) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if !m.closing {
		m.working.Go(do)
	}
}

// readQuestions counts the questions of the runs that wait on the disk.
func (m *Manager) readQuestions(ctx context.Context) {
	c := &m.openCount
	c.mu.Lock()
	if c.reading {
		c.mu.Unlock()
		return
	}
	c.reading = true
	c.mu.Unlock()
	found := map[string]int{}
	ids, err := m.o.Runs.Unfinished()
	for _, run := range ids {
		if m.find(run) == nil {
			sum := m.o.Runs.Summary(ctx, run)
			found[run] = sum.Interrupts
		}
	}
	m.mu.Lock() // before c.mu, as in register
	defer m.mu.Unlock()
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.reading, c.at = false, time.Now(); err != nil {
		return
	}
	maps.DeleteFunc(found, func(run string, questions int) bool { return questions == 0 || m.active[run] != nil })
	c.of = found
}

// take returns how many questions a run waits for that is about to execute, and counts them no
// more.
func (c *openCount) take(run string) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	n := c.of[run]
	delete(c.of, run)
	return n
}

// put counts the questions of a run that nothing executes any more.
func (c *openCount) put(run string, questions int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.of != nil && questions > 0 {
		c.of[run] = questions
	}
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
