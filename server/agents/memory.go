package agents

import (
	"errors"
	"io"
	"path/filepath"
	"slices"
	"sync"

	"github.com/pexctl/pex/engine/memory"
	"github.com/pexctl/pex/internal/app/host"
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

// Memory is a folder of conversations, and the agents that store theirs in it.
type Memory struct {
	memory.Archive
	Agents []string // sorted
}

// Memories returns the conversations of a tenant: those in its home, then those in the
// folders that agents of the set name. tenant owns the conversations; "" = the default
// tenant.
func (s *Set) Memories(shared *SharedMemory, home, tenant string) (all []Memory) {
	dirs := []string{filepath.Join(home, "memory")}
	users := map[string][]string{}
	for _, a := range s.All() {
		dir, err := host.MemoryDir(a.Program, host.SettingsOf(a.options.Catalog, a.origin(tenant), home, nil))
		if err != nil || dir == "" { // its runs cannot start, or store nothing
			continue
		}
		if dir = filepath.Clean(dir); !slices.Contains(dirs, dir) {
			dirs = append(dirs, dir)
		}
		users[dir] = append(users[dir], a.Name)
	}
	for _, dir := range dirs {
		if archive := shared.Archive(dir, tenant); archive != nil {
			all = append(all, Memory{archive, users[filepath.Clean(dir)]})
		}
	}
	return all
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
