package testcase

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"sync"

	"github.com/pexctl/pex/engine"
)

// memory is a conversation store that begins empty and ends with its case.
type memory struct {
	mu       sync.Mutex
	turns    map[string][]engine.Interaction
	sessions map[string]engine.Session
}

var (
	_ engine.Memory        = (*memory)(nil)
	_ engine.SessionMemory = (*memory)(nil)
)

func newMemory() *memory {
	return &memory{turns: map[string][]engine.Interaction{}, sessions: map[string]engine.Session{}}
}

// History implements engine.Memory.
func (m *memory) History(ctx context.Context, id string) ([]engine.Interaction, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	return cloned(m.turns[id]), nil
}

// Append implements engine.Memory.
func (m *memory) Append(ctx context.Context, all ...engine.Interaction) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, in := range cloned(all) {
		turns := m.turns[in.MemoryID]
		if i := slices.IndexFunc(turns, func(o engine.Interaction) bool { return o.ID == in.ID }); i >= 0 {
			turns[i] = in
			continue
		}
		m.turns[in.MemoryID] = append(turns, in)
	}
	return nil
}

// cloned is interactions that share nothing with the given ones.
func cloned(all []engine.Interaction) []engine.Interaction {
	out := slices.Clone(all)
	for i := range out {
		out[i].Trace = slices.Clone(out[i].Trace)
	}
	return out
}

// Session implements engine.SessionMemory.
func (m *memory) Session(ctx context.Context, id string) (engine.Session, error) {
	if err := ctx.Err(); err != nil {
		return engine.Session{}, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	return copied(m.sessions[id]), nil
}

// UpdateSession implements engine.SessionMemory.
func (m *memory) UpdateSession(ctx context.Context, id string, change func(*engine.Session) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	next := copied(m.sessions[id])
	if err := change(&next); err != nil {
		return err
	}
	m.sessions[id] = copied(next)
	return nil
}

func copied(s engine.Session) engine.Session {
	out := engine.Session{Notes: slices.Clone(s.Notes), Variables: maps.Clone(s.Variables)}
	for name, v := range out.Variables {
		out.Variables[name] = json.RawMessage(slices.Clone(v))
	}
	return out
}
