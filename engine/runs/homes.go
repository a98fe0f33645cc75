package runs

import (
	"errors"
	"os"
	"strconv"
	"sync"
	"time"

	"github.com/pexctl/pex/engine/failpoint"
	"github.com/pexctl/pex/engine/journal"
)

// homes are the homes to which sessions write, by durability. Sessions share them, and so
// what a home knows about its runs, and its syncs of directories. Each session of a home
// with durability Async has its own, whose Close waits only for this session.
type homes struct {
	dir    string
	shared bool  // sessions with durability Sync share a commit log
	limit  int64 // of its segments; 0 = the default

	committed func(time.Duration) // see Env

	mu   sync.Mutex
	open map[journal.Durability]*sharedHome
}

// newHomes returns the homes of a service. In tests that kill pexctl, a command can have a
// log, too, which it leaves behind.
func newHomes(dir string, shared bool, committed func(time.Duration)) *homes {
	h := &homes{dir: dir, shared: shared, committed: committed, open: map[journal.Durability]*sharedHome{}}
	if failpoint.On {
		if limit, err := strconv.ParseInt(os.Getenv("PEX_COMMIT_LOG"), 10, 64); err == nil {
			h.shared, h.limit = true, limit
		}
	}
	return h
}

// sharedHome is a home with the number of sessions that use it.
type sharedHome struct {
	*journal.Home
	users int
}

// get returns a home for a session, which must call release at its end.
func (h *homes) get(d journal.Durability) (_ *journal.Home, release func() error, _ error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if d == "" {
		d = journal.Sync
	}
	shared := h.open[d]
	if shared != nil {
		if _, err := os.Stat(shared.Folder("")); errors.Is(err, os.ErrNotExist) { // was deleted
			shared = nil
		}
	}
	if shared == nil {
		home, err := journal.OpenHome(h.dir, d)
		if err != nil {
			return nil, nil, err
		}
		if d == journal.Async {
			return home, home.Close, nil
		}
		home.OnCommit(h.committed)
		if h.shared {
			home.ShareSyncs(h.limit)
		}
		shared = &sharedHome{Home: home}
		h.open[d] = shared
	}
	shared.users++
	return shared.Home, func() error { return h.release(shared) }, nil
}

// release closes the files of a home once no session uses it. The home can be used again.
// One with a commit log is kept open, since the log is for many sessions.
func (h *homes) release(shared *sharedHome) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if shared.users--; shared.users > 0 || h.shared {
		return nil
	}
	return shared.Close()
}

// close closes all homes. No session may use them.
func (h *homes) close() error {
	h.mu.Lock()
	defer h.mu.Unlock()
	var err error
	for d, home := range h.open {
		err = errors.Join(err, home.Close())
		delete(h.open, d)
	}
	return err
}
