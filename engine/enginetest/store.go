package enginetest

import (
	"bytes"
	"context"
	"encoding/json"
	"slices"
	"sync"

	"github.com/pexctl/pex/engine/memory"
)

// Store is an in-memory memory.Store and memory.SessionStore. The zero value is empty and
// ready to use. If Err is set, all operations return it, or only the next Fails of them.
type Store struct {
	Err   error
	Fails int // 0 = all operations

	mu           sync.Mutex
	interactions map[string][]memory.Interaction
	sessions     map[string][]byte
	appends      int
	failed       int
}

var (
	_ memory.Store        = (*Store)(nil)
	_ memory.SessionStore = (*Store)(nil)
)

// Appends returns the number of calls of Append.
func (s *Store) Appends() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.appends
}

// History implements memory.Store.
func (s *Store) History(ctx context.Context, memoryID string) ([]memory.Interaction, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.nextError(ctx); err != nil {
		return nil, err
	}
	out := slices.Clone(s.interactions[memoryID])
	for i := range out {
		out[i].Trace = bytes.Clone(out[i].Trace)
	}
	return out, nil
}

// Append implements memory.Store.
func (s *Store) Append(ctx context.Context, all ...memory.Interaction) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.nextError(ctx); err != nil {
		return err
	}
	s.appends++
	if s.interactions == nil {
		s.interactions = map[string][]memory.Interaction{}
	}
	for _, in := range all {
		in.Trace = bytes.Clone(in.Trace)
		said := s.interactions[in.MemoryID]
		at := slices.IndexFunc(said, func(o memory.Interaction) bool { return o.ID == in.ID })
		if at < 0 {
			at, said = len(said), append(said, in)
		}
		said[at] = in
		s.interactions[in.MemoryID] = said
	}
	return nil
}

// Session implements memory.SessionStore.
func (s *Store) Session(ctx context.Context, memoryID string) (memory.Session, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.session(ctx, memoryID)
}

// UpdateSession implements memory.SessionStore.
func (s *Store) UpdateSession(ctx context.Context, memoryID string, change func(*memory.Session) error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	session, err := s.session(ctx, memoryID)
	if err != nil {
		return err
	}
	if err := change(&session); err != nil {
		return err
	}
	if s.sessions == nil {
		s.sessions = map[string][]byte{}
	}
	s.sessions[memoryID], err = json.Marshal(session)
	return err
}

func (s *Store) session(ctx context.Context, memoryID string) (session memory.Session, err error) {
	if err := s.nextError(ctx); err != nil || s.sessions[memoryID] == nil {
		return session, err
	}
	err = json.Unmarshal(s.sessions[memoryID], &session)
	return session, err
}

func (s *Store) nextError(ctx context.Context) error {
	if s.Err == nil || s.failed > 0 && s.failed == s.Fails {
		return ctx.Err()
	}
	s.failed++
	return s.Err
}
