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

// slowestPoll is how often, at least, a process that waits tries again.
const slowestPoll = 10 * time.Millisecond

// acquireLock takes the store's lock, waiting for whoever has it. Badger has a
// lock of its own; this one also covers the checks before it opens and the
// note after it closed.
func (s *Store) acquireLock(ctx context.Context) (*os.File, error) {
	f, err := s.openLock()
	if err != nil {
		return nil, err
	}
	notice := notice{dir: s.dir}
	defer notice.withdraw()
	began, wait := time.Now(), time.Millisecond
	for {
		ok, err := tryLock(f)
		switch {
		case err != nil:
			f.Close()
			return nil, fmt.Errorf("lock memory store: %w", err)
		case ok && replaced(f):
			f.Close()
			if f, err = s.openLock(); err != nil {
				return nil, err
			}
			continue
		case ok:
			// The pid is for the messages of those who wait; without it they wait as well.
			_ = f.Truncate(0)
			_, _ = f.WriteAt([]byte(strconv.Itoa(os.Getpid())+"\n"), 0)
			return f, nil
		}
		if waited := time.Since(began); waited > s.o.lockWait() || ctx.Err() != nil {
			pid := pidIn(f.Name())
			f.Close()
			return nil, &LockedError{Dir: s.dir, PID: pid, Waited: waited, Err: ctx.Err()}
		}
		notice.give()
		pause(ctx, wait)
		wait = min(wait*3/2, slowestPoll)
	}
}

func (s *Store) openLock() (*os.File, error) {
	f, err := os.OpenFile(filepath.Join(s.dir, lockFile), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("lock memory store: %w", err)
	}
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

// notice tells whoever has the store that somebody waits for it: a shared lock
// on a file beside the store's, which ends with the process. Who has the store
// finds it out by trying for the whole of that lock.
type notice struct {
	dir   string
	file  *os.File
	given bool
}

// give tries to give the notice; it may be looked for at this very moment, and
// is tried again then. Without it the wait is longer, that is all.
func (n *notice) give() {
	if n.given {
		return
	}
	if n.file == nil {
		n.file = openWaiters(n.dir)
	}
	if n.file != nil {
		n.given, _ = tryShare(n.file)
	}
}

func (n *notice) withdraw() {
	if n.file != nil {
		n.file.Close()
	}
}

// openWaiters opens the file of the notices; nil = there are none.
func openWaiters(dir string) *os.File {
	if !notices {
		return nil
	}
	f, err := os.OpenFile(filepath.Join(dir, waitFile), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil
	}
	return f
}

// awaited says whether somebody has given notice.
func awaited(waiters *os.File) bool {
	if waiters == nil {
		return true // nobody could tell: hand over at once
	}
	ok, err := tryLock(waiters)
	if ok {
		unlock(waiters)
	}
	return err == nil && !ok
}
