package badger

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// acquireLock takes the store's lock, waiting for whoever has it. Badger has a
// lock of its own; this one also covers the checks before it opens and the
// note after it closed.
func (s *Store) acquireLock(ctx context.Context) (*os.File, error) {
	path := filepath.Join(s.dir, lockFile)
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("lock memory store: %w", err)
	}
	began, wait := time.Now(), time.Millisecond
	for {
		ok, err := tryLock(f)
		if err != nil {
			f.Close()
			return nil, fmt.Errorf("lock memory store: %w", err)
		}
		if ok {
			// The pid is for the messages of those who wait; without it they wait as well.
			_ = f.Truncate(0)
			_, _ = f.WriteAt([]byte(strconv.Itoa(os.Getpid())+"\n"), 0)
			return f, nil
		}
		if waited := time.Since(began); waited > s.o.lockWait() || ctx.Err() != nil {
			f.Close()
			return nil, &LockedError{Dir: s.dir, PID: pidIn(path), Waited: waited, Err: ctx.Err()}
		}
		pause(ctx, wait)
		wait = min(wait*3/2, 25*time.Millisecond)
	}
}

// pidIn reads the process id that a lock file names; 0 is none.
func pidIn(path string) int {
	raw, err := os.ReadFile(path)
	if err != nil {
		return 0
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(raw)))
	if err != nil {
		return 0
	}
	return pid
}

// checkSpace refuses to open a store on a disk that is nearly full: Badger maps
// its files, and a write to a mapped page that has no room kills the process.
func (s *Store) checkSpace() error {
	free, known := freeBytes(s.dir)
	if need := s.o.freeSpace(); known && free < need {
		return &FullError{Dir: s.dir, Free: free, Need: need}
	}
	return nil
}
