package manager

import (
	"context"
	"os"
	"sync"
	"time"

	"github.com/pexctl/pex/engine/interrupt"
	"github.com/pexctl/pex/engine/runs"
	"github.com/pexctl/pex/engine/stop"
)

// Recover continues the runs that clients started and that nothing executes: those that
// were queued, suspended, or interrupted by a crash. Runs that wait for an answer, and
// those of other commands, stay as they are. It returns how many continue.
func (m *Manager) Recover(ctx context.Context) (n int, err error) {
	ids, err := m.o.Runs.Unfinished()
	if err != nil {
		return 0, err
	}
	for _, run := range ids {
		if ctx.Err() != nil {
			return n, ctx.Err()
		}
		ours, err := m.recoverable(ctx, run)
		if err != nil {
			m.log(run, "recover a run", err)
			continue
		}
		if !ours {
			continue
		}
		if err := m.requeue(run); err != nil {
			return n, err
		}
		n++
	}
	return n, nil
}

// recoverable reports whether a run of a client can continue without a human.
func (m *Manager) recoverable(ctx context.Context, run string) (bool, error) {
	start, err := m.o.Runs.StartOf(run)
	if err != nil || start.Input.By == nil {
		return false, err
	}
	sum := m.o.Runs.Summary(ctx, run)
	return sum.Status == stop.RunInterrupted && sum.StopReason.Code == stop.Suspended, nil
}

// requeue continues a run in its turn. The queue has room for every run that was accepted.
func (m *Manager) requeue(run string) error {
	start, err := m.o.Runs.StartOf(run)
	if err != nil {
		return err
	}
	slot := m.o.Slots.Wait(m.o.Tenant, start.Input.MemoryID)
	a, err := m.register(run, start.Input.MemoryID, slot)
	if err != nil {
		slot.Leave()
		return err
	}
	close(a.begun)
	go m.executeLater(a)
	return nil
}

// OpenQuestion is a question that a run waits for.
type OpenQuestion struct {
	Run   string
	Agent string // see engine.Input
	Spec  string // name of its spec
	Open  interrupt.Question
	Since time.Time // when it was asked; zero = unknown
}

// asked is an open question and when it was asked.
type asked struct {
	question interrupt.Question
	since    time.Time
}

// Questions returns the open questions of all runs that have not ended, by run.
func (m *Manager) Questions(ctx context.Context) ([]OpenQuestion, error) {
	ids, err := m.o.Runs.Unfinished()
	if err != nil {
		return nil, err
	}
	var out []OpenQuestion
	for _, run := range ids {
		of, open := m.openQuestions(ctx, run)
		for _, q := range open {
			of.Open, of.Since = q.question, q.since
			out = append(out, of)
		}
	}
	return out, nil
}

// openQuestions returns the open questions of a run, and to which agent and spec they belong.
func (m *Manager) openQuestions(ctx context.Context, run string) (of OpenQuestion, open []asked) {
	of.Run = run
	a := m.find(run)
	if a == nil {
		sum := m.o.Runs.Summary(ctx, run)
		of.Agent, of.Spec = sum.Agent, sum.Spec.Name
		return of, m.parkedQuestions(ctx, sum)
	}
	if open = a.inbox.questions(); len(open) == 0 {
		return of, nil
	}
	start, err := m.o.Runs.StartOf(run) // it need not be compiled
	if err != nil {
		m.log(run, "read a run", err)
		return of, nil
	}
	of.Agent, of.Spec = start.Input.Agent, start.Name
	return of, open
}

// parkedCache keeps the questions of waiting runs, so that their journals are read once.
type parkedCache struct {
	mu  sync.Mutex
	was map[string]parkedEntry
}

type parkedEntry struct {
	state runs.Summary
	open  []asked
}

// parkedQuestions returns the open questions of a run that nothing executes.
func (m *Manager) parkedQuestions(ctx context.Context, sum runs.Summary) []asked {
	if sum.Interrupts == 0 {
		return nil
	}
	c := &m.parked
	c.mu.Lock()
	defer c.mu.Unlock()
	if e, ok := c.was[sum.Run]; ok && e.state == sum {
		return e.open
	}
	r, err := m.o.Runs.Read(sum.Run)
	if err != nil {
		m.log(sum.Run, "read a run", err)
		return nil
	}
	var since time.Time // a run that waits has written nothing after its questions
	if info, err := os.Stat(m.o.Runs.Home().File(sum.Run)); err == nil {
		since = info.ModTime().UTC()
	}
	var open []asked
	for _, q := range r.Show(ctx).Interrupts {
		open = append(open, asked{q, since})
	}
	if c.was == nil {
		c.was = map[string]parkedEntry{}
	}
	c.was[sum.Run] = parkedEntry{sum, open}
	return open
}
