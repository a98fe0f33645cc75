package badger

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/pexctl/pex/engine/regular"
)

// acquireLock takes the store's lock, queueing behind other processes until ctx ends or
// Options.LockWait has passed. Badger has its own lock; this one also covers the checks
// before opening and the sentinel after closing.
func (s *Store) acquireLock(ctx context.Context) (*os.File, error) {
	w := wait{store: s, start: time.Now()}
	defer w.leave()
	for {
		if ahead := w.updateAhead(); ahead == 0 {
			if f, err := s.lockNow(); f != nil || err != nil {
				return f, err
			}
			w.join()
		}
		if ctx.Err() != nil || w.timedOut() {
			return nil, w.timeoutError(ctx.Err())
		}
		w.report()
		pause(ctx, w.interval())
	}
}

// lockNow takes the lock if it is free; otherwise it returns nil.
func (s *Store) lockNow() (*os.File, error) {
	f, err := regular.OpenFile(filepath.Join(s.dir, lockFile), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("lock memory store: %w", err)
	}
	ok := true // without locks, Badger's own lock, which is taken next, is enough
	if regular.CanLock {
		ok, err = regular.TryLock(f)
	}
	if err != nil {
		f.Close()
		return nil, fmt.Errorf("lock memory store: %w", err)
	}
	if !ok || wasReplaced(f) {
		f.Close()
		return nil, nil
	}
	// The pid is only for messages of waiting processes.
	_ = f.Truncate(0)
	_, _ = f.WriteAt([]byte(strconv.Itoa(os.Getpid())+"\n"), 0)
	return f, nil
}

// wasReplaced reports whether a file is no longer at its path, because a restored
// directory replaced the one it was opened in.
func wasReplaced(f *os.File) bool {
	opened, err := f.Stat()
	if err != nil {
		return true
	}
	now, err := os.Stat(f.Name())
	return err != nil || !os.SameFile(opened, now)
}

// pidIn reads the process id in a lock file; 0 = none.
func pidIn(path string) int {
	raw, err := regular.ReadFile(path)
	if err != nil {
		return 0
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(raw)))
	if err != nil {
		return 0
	}
	return pid
}
