package agents

import (
	"errors"
	"io"
	"path/filepath"
	"slices"
	"sync"

	"github.com/pexctl/pex/engine/memory"
	"github.com/pexctl/pex/internal/app/catalog"
	"github.com/pexctl/pex/internal/app/host"
)

// SharedMemory lends each conversation store to any number of runs at once, so that they
// need not take turns in opening it.
type SharedMemory struct {
	open func(catalog.MemoryPlace) memory.Store

	mu     sync.Mutex
	stores map[catalog.MemoryPlace]memory.Store
}

// NewSharedMemory returns the stores that open opens on first use.
func NewSharedMemory(open func(catalog.MemoryPlace) memory.Store) *SharedMemory {
	return &SharedMemory{open: open, stores: map[catalog.MemoryPlace]memory.Store{}}
}

// Archive returns the conversations at a place, or nil if the store cannot list them. The
// caller must not close it.
func (s *SharedMemory) Archive(at catalog.MemoryPlace) memory.Archive {
	a, _ := s.store(at).(memory.Archive)
	return a
}

// Memory is a store of conversations, and the agents that store theirs in it.
type Memory struct {
	memory.Archive
	Agents []string // sorted
}

// Memories returns the conversations of a tenant: those in its home, then those at the
// places that agents of the set name. tenant owns the conversations; "" = the default
// tenant.
func (s *Set) Memories(shared *SharedMemory, home, tenant string) (all []Memory) {
	places := []catalog.MemoryPlace{{Dir: filepath.Join(home, "memory"), Tenant: tenant}}
	users := map[catalog.MemoryPlace][]string{}
	for _, a := range s.All() {
		at, err := host.MemoryPlace(a.Program, host.SettingsOf(a.options.Catalog, a.origin(tenant), home, nil))
		if err != nil || at == (catalog.MemoryPlace{}) { // its runs cannot start, or store nothing
			continue
		}
		if !slices.Contains(places, at) {
			places = append(places, at)
		}
		users[at] = append(users[at], a.Name)
	}
	for _, at := range places {
		if archive := shared.Archive(at); archive != nil {
			all = append(all, Memory{archive, users[at]})
		}
	}
	return all
}

// store returns the store at a place.
func (s *SharedMemory) store(at catalog.MemoryPlace) memory.Store {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.stores[at] == nil {
		s.stores[at] = s.open(at)
	}
	return s.stores[at]
}

// Open returns the store at a place. Runs cannot close it.
func (s *SharedMemory) Open(at catalog.MemoryPlace) memory.Store {
	store := s.store(at)
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
