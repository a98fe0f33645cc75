package agents

import (
	"errors"
	"io"
	"sync"

	"github.com/pexctl/pex/engine/memory"
)

// SharedMemory lends each conversation store to any number of runs at once, so that they
// need not take turns in opening it.
type SharedMemory struct {
	open func(dir, tenant string) memory.Store

	mu     sync.Mutex
	stores map[[2]string]memory.Store
}

// NewSharedMemory returns the stores that open opens on first use.
func NewSharedMemory(open func(dir, tenant string) memory.Store) *SharedMemory {
	return &SharedMemory{open: open, stores: map[[2]string]memory.Store{}}
}

// Archive returns the conversations of a tenant in a folder, or nil if the store cannot
// list them. The caller must not close it.
func (s *SharedMemory) Archive(dir, tenant string) memory.Archive {
	a, _ := s.store(dir, tenant).(memory.Archive)
	return a
}

// store returns the store of a tenant in a folder.
func (s *SharedMemory) store(dir, tenant string) memory.Store {
	s.mu.Lock()
	defer s.mu.Unlock()
	key := [2]string{dir, tenant}
	if s.stores[key] == nil {
		s.stores[key] = s.open(dir, tenant)
	}
	return s.stores[key]
}

// Open returns the store of a tenant in a folder. Runs cannot close it.
func (s *SharedMemory) Open(dir, tenant string) memory.Store {
	store := s.store(dir, tenant)
	if sessions, ok := store.(memory.SessionStore); ok {
		return lentSessions{lent{store}, sessions}
	}
	return lent{store}
}

// Close closes the stores. No run may use them any more.
func (s *SharedMemory) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	var errs []error
	for _, store := range s.stores {
		if c, ok := store.(io.Closer); ok {
			errs = append(errs, c.Close())
		}
	}
	clear(s.stores)
	return errors.Join(errs...)
}

// lent is a store without Close.
type lent struct{ memory.Store }

// lentSessions is lent for a store with session state.
type lentSessions struct {
	lent
	memory.SessionStore
}
