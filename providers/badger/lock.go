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

// acquireLock takes the store's lock, waiting its turn behind other processes
// until ctx ends or Options.LockWait has passed. Badger has a lock of its own;
// this one also covers the checks before it opens and the note after it closed.
func (s *Store) acquireLock(ctx context.Context) (*os.File, error) {
	w := wait{store: s, began: time.Now()}
	defer w.leave()
	for {
		if ahead := w.ahead(); ahead == 0 {
			if f, err := s.lockNow(); f != nil || err != nil {
				return f, err
			}
			w.join()
		}
		if ctx.Err() != nil || w.over() {
			return nil, w.locked(ctx.Err())
		}
		w.tell()
		pause(ctx, w.interval())
	}
}

// lockNow takes the lock if no process has it; nil = one does.
func (s *Store) lockNow() (*os.File, error) {
	f, err := regular.OpenFile(filepath.Join(s.dir, lockFile), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("lock memory store: %w", err)
	}
	ok, err := tryLock(f)
	if err != nil {
		f.Close()
		return nil, fmt.Errorf("lock memory store: %w", err)
	}
	if !ok || replaced(f) {
		f.Close()
		return nil, nil
	}
	// The pid is for the messages of waiting processes; without it they wait as well.
	_ = f.Truncate(0)
	_, _ = f.WriteAt([]byte(strconv.Itoa(os.Getpid())+"\n"), 0)
	return f, nil
}

// replaced says that a file is no longer the one of its name: a restored
// directory took the place of the one it was opened in.
func replaced(f *os.File) bool {
	have, err := f.Stat()
	if err != nil {
		return true
	}
	now, err := os.Stat(f.Name())
	return err != nil || !os.SameFile(have, now)
}

// pidIn reads the process id that a lock file names; 0 is none.
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
