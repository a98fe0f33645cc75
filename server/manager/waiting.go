package manager

import (
	"context"
	"slices"
	"sync"

	"github.com/pexctl/pex/engine/stop"
)

// waitingKey is a conversation with an agent.
type waitingKey struct{ agent, memoryID string }

// waitingIndex has the runs that wait for an answer on disk, and those that have waited, by
// conversation.
type waitingIndex struct {
	mu     sync.Mutex
	loaded bool
	runs   map[waitingKey][]string
}

// add adds a run whose session has ended with a status.
func (w *waitingIndex) add(a *activeRun, status stop.RunStatus) {
	if status != stop.RunInterrupted || a.memory == "" {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.put(waitingKey{a.agent, a.memory}, a.run)
}

// put adds a run. The caller holds mu.
func (w *waitingIndex) put(c waitingKey, run string) {
	if w.runs == nil {
		w.runs = map[waitingKey][]string{}
	}
	if !slices.Contains(w.runs[c], run) {
		w.runs[c] = append(w.runs[c], run)
	}
}

// remove removes a run that no longer waits.
func (w *waitingIndex) remove(c waitingKey, run string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.runs[c] = slices.DeleteFunc(slices.Clone(w.runs[c]), func(r string) bool { return r == run }); len(w.runs[c]) == 0 {
		delete(w.runs, c)
	}
}

// of returns the runs of a conversation. The first call reads the home, for the runs of an
// earlier process.
func (w *waitingIndex) of(ctx context.Context, m *Manager, c waitingKey) ([]string, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.loaded {
		ids, err := m.o.Runs.Unfinished()
		if err != nil {
			return nil, err
		}
		for _, id := range ids {
			if sum := m.o.Runs.Summary(ctx, id); sum.MemoryID != "" && sum.Interrupts > 0 {
				w.put(waitingKey{sum.Agent, sum.MemoryID}, id)
			}
		}
		w.loaded = ctx.Err() == nil
	}
	return w.runs[c], nil // it is replaced, not changed, but for new runs at its end
}

// WaitingIn returns the latest run of an agent that waits for an answer in a conversation, with
// its open questions. The run is "" if there is none.
func (m *Manager) WaitingIn(ctx context.Context, agent, memoryID string) (run string, open []OpenQuestion, err error) {
	of := waitingKey{agent, memoryID}
	m.mu.Lock()
	var active []string
	for _, a := range m.active {
		if a.memory == memoryID && a.agent == agent {
			active = append(active, a.run)
		}
	}
	m.mu.Unlock()
	slices.Sort(active)
	for _, run := range slices.Backward(active) {
		open := m.OpenQuestions(ctx, run)
		if len(open) == 0 { // it may be about to ask, or to end its session
			open, err = m.journaledQuestions(ctx, run)
		}
		if len(open) > 0 || err != nil {
			return run, open, err
		}
	}
	ids, err := m.waiting.of(ctx, m, of)
	if err != nil {
		return "", nil, err
	}
	for _, id := range slices.Backward(ids) {
		isActive := m.find(id) != nil
		if open := m.OpenQuestions(ctx, id); len(open) > 0 {
			return id, open, nil
		}
		if !isActive {
			m.waiting.remove(of, id)
		}
	}
	return "", nil, nil
}

// journaledQuestions returns the open questions in the journal of a run.
func (m *Manager) journaledQuestions(ctx context.Context, run string) (out []OpenQuestion, err error) {
	r, err := m.o.Runs.Read(run)
	if err != nil {
		return nil, err
	}
	for _, q := range r.Show(ctx).Interrupts {
		out = append(out, OpenQuestion{Run: run, Open: q})
	}
	return out, nil
}
