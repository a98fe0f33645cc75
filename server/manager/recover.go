package manager

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"os"
	"reflect"
	"slices"
	"sync"
	"time"

	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/interrupt"
	"github.com/pexctl/pex/engine/journal"
	"github.com/pexctl/pex/engine/runs"
	"github.com/pexctl/pex/engine/stop"
)

// Recover continues the runs that clients started and that nothing executes: those that
// were queued, suspended, or interrupted by a crash or a full disk. It carries out requests to cancel
// runs. Runs that wait for an answer, and those of other commands, stay as they are. It
// returns how many continue.
func (m *Manager) Recover(ctx context.Context) (n int, err error) {
	m.metFull.Store(false)
	ids, err := m.o.Runs.Unfinished()
	if err != nil {
		return 0, err
	}
	for _, run := range ids {
		if ctx.Err() != nil {
			return n, ctx.Err()
		}
		continues, err := m.recoverRun(ctx, run)
		switch {
		case errors.Is(err, ErrClosing):
			return n, err
		case errors.As(err, new(*RunningError)), errors.As(err, new(*runs.NotFoundError)): // meanwhile started, or removed
		case err != nil:
			m.log(run, "recover a run", err)
		case continues:
			n++
		}
	}
	return n, nil
}

// recoverRun continues a run in its turn if a client started it and it needs no human. The
// queue has room for every run that was accepted.
func (m *Manager) recoverRun(ctx context.Context, run string) (continues bool, err error) {
	start, err := m.o.Runs.StartOf(run)
	if err != nil || !startedByClient(start.Input) {
		return false, err
	}
	if who, requested := m.o.Runs.Home().CancelRequested(run); requested {
		var by engine.Actor
		_ = json.Unmarshal(who, &by) // an unreadable author is unknown
		return false, m.cancel(run, by)
	}
	sum := m.o.Runs.Summary(ctx, run)
	for tries := 0; sum.Status == runs.Running && m.find(run) == nil && tries < inUseTries; tries++ {
		pause(ctx) // a message to the run may have its journal open for a moment
		sum = m.o.Runs.Summary(ctx, run)
	}
	if sum.Status != stop.RunInterrupted || sum.StopReason.Code != stop.Suspended && sum.StopReason.Code != stop.StoreFull {
		return false, nil
	}
	slot := m.o.Slots.Wait(m.o.Tenant, start.Input.MemoryID)
	a, err := m.register(start.Input, slot, false)
	if err != nil {
		slot.Leave()
		return false, err
	}
	close(a.begun)
	go m.executeLater(a)
	return true, nil
}

// MetFullDisk reports whether a run stopped because the disk was full since the last Recover.
func (m *Manager) MetFullDisk() bool { return m.metFull.Load() }

// OpenQuestion is a question that a run waits for.
type OpenQuestion struct {
	Run   string
	Agent string // see engine.Input
	Spec  string // name of its spec
	About string // the question with which the run started
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
		out = append(out, m.OpenQuestions(ctx, run)...)
	}
	m.parked.keep(ids)
	return out, nil
}

// OpenQuestions returns the open questions of a run; none if it does not exist.
func (m *Manager) OpenQuestions(ctx context.Context, run string) (out []OpenQuestion) {
	of, open := m.openQuestions(ctx, run)
	for _, q := range open {
		of.Open, of.Since = q.question, q.since
		out = append(out, of)
	}
	return out
}

// openQuestions returns the open questions of a run, and to which agent and spec they belong.
func (m *Manager) openQuestions(ctx context.Context, run string) (of OpenQuestion, open []asked) {
	of.Run = run
	a := m.find(run)
	if a == nil {
		sum := m.o.Runs.Summary(ctx, run)
		of.Agent, of.Spec, of.About = sum.Agent, sum.Spec.Name, sum.Question
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
	of.Agent, of.Spec, of.About = start.Input.Agent, start.Name, runs.Question(start.Input)
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

// keep forgets all runs but those with the sorted ids.
func (c *parkedCache) keep(ids []string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	maps.DeleteFunc(c.was, func(run string, _ parkedEntry) bool {
		_, found := slices.BinarySearch(ids, run)
		return !found
	})
}

// parkedQuestions returns the open questions of a run that nothing executes.
func (m *Manager) parkedQuestions(ctx context.Context, sum runs.Summary) []asked {
	if sum.Interrupts == 0 {
		return nil
	}
	c := &m.parked
	c.mu.Lock()
	defer c.mu.Unlock()
	if e, ok := c.was[sum.Run]; ok && reflect.DeepEqual(e.state, sum) {
		return e.open
	}
	r, err := m.o.Runs.Read(sum.Run)
	if err != nil {
		m.log(sum.Run, "read a run", err)
		return nil
	}
	var since time.Time // a run that waits has written nothing after its questions, unless it received a message
	if info, err := os.Stat(m.o.Runs.Home().File(sum.Run)); err == nil && r.Records[len(r.Records)-1].Kind != journal.Said {
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
