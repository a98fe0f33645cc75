package testcase

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"sync"

	"github.com/pexctl/pex/engine/memory"
)

// trialMemory is a conversation store for one case, initially empty.
type trialMemory struct {
	mu       sync.Mutex
	turns    map[string][]memory.Interaction
	sessions map[string]memory.Session
}

var (
	_ memory.Store        = (*trialMemory)(nil)
	_ memory.SessionStore = (*trialMemory)(nil)
)

func newMemory() *trialMemory {
	return &trialMemory{turns: map[string][]memory.Interaction{}, sessions: map[string]memory.Session{}}
}

// History implements memory.Store.
func (m *trialMemory) History(ctx context.Context, id string) ([]memory.Interaction, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	return cloneInteractions(m.turns[id]), nil
}

// Append implements memory.Store.
func (m *trialMemory) Append(ctx context.Context, all ...memory.Interaction) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, in := range cloneInteractions(all) {
		turns := m.turns[in.MemoryID]
		if i := slices.IndexFunc(turns, func(o memory.Interaction) bool { return o.ID == in.ID }); i >= 0 {
			turns[i] = in
			continue
		}
		m.turns[in.MemoryID] = append(turns, in)
	}
	return nil
}

// cloneInteractions returns a deep copy of interactions.
func cloneInteractions(all []memory.Interaction) []memory.Interaction {
	out := slices.Clone(all)
	for i := range out {
		out[i].Trace = slices.Clone(out[i].Trace)
	}
	return out
}

// Session implements memory.SessionStore.
func (m *trialMemory) Session(ctx context.Context, id string) (memory.Session, error) {
	if err := ctx.Err(); err != nil {
		return memory.Session{}, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	return cloneSession(m.sessions[id]), nil
}

// UpdateSession implements memory.SessionStore.
func (m *trialMemory) UpdateSession(ctx context.Context, id string, change func(*memory.Session) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	next := cloneSession(m.sessions[id])
	if err := change(&next); err != nil {
		return err
	}
	m.sessions[id] = cloneSession(next)
	return nil
}

func cloneSession(s memory.Session) memory.Session {
	out := memory.Session{Notes: slices.Clone(s.Notes), Variables: maps.Clone(s.Variables)}
	for name, v := range out.Variables {
		out.Variables[name] = json.RawMessage(slices.Clone(v))
	}
	return out
}
