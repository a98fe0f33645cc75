//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package journal

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"syscall"
	"time"

	"github.com/pexctl/pex/engine/regular"
)

// patience is how often acquire looks again for a holder that is between its
// lock and its pid; of one whose pid is known it looks again once, for it may
// only be looking (Home.Stat).
const patience = 20

// acquire locks a run for as long as this process lives and the file is open.
// The file is taken with the folder when a run is removed: a lock on one that
// is no longer there is none.
func acquire(path, run string) (*os.File, error) {
	for range patience {
		lock, err := regular.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
		if err != nil {
			return nil, appendError(run, err)
		}
		if err = take(lock, run); err == nil && !inPlace(lock) {
			lock.Close()
			continue
		}
		if err == nil {
			if _, err = fmt.Fprintf(lock, "%-10d\n", os.Getpid()); err != nil {
				err = appendError(run, err)
			}
		}
		if err != nil {
			lock.Close()
			return nil, err
		}
		return lock, nil
	}
	return nil, &HeldError{Run: run} // it is made and removed without end
}

func take(lock *os.File, run string) error {
	for n := 0; ; n++ {
		err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		if err == nil {
			return nil
		}
		if !errors.Is(err, syscall.EWOULDBLOCK) {
			return fmt.Errorf("lock run %s: %w", run, &fs.PathError{Op: "flock", Path: lock.Name(), Err: err})
		}
		pid := holder(lock.Name())
		if n >= patience || n > 0 && pid != 0 {
			return &HeldError{Run: run, PID: pid}
		}
		time.Sleep(5 * time.Millisecond)
	}
}

func inPlace(lock *os.File) bool {
	mine, err := lock.Stat()
	there, serr := os.Stat(lock.Name())
	return err == nil && serr == nil && os.SameFile(mine, there)
}

// held says, without taking the lock, whether someone has it, and who.
func held(path string) (pid int, yes bool) {
	lock, err := regular.Open(path)
	if err != nil {
		return 0, false
	}
	defer lock.Close()
	if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_SH|syscall.LOCK_NB); !errors.Is(err, syscall.EWOULDBLOCK) {
		return 0, false
	}
	return holder(path), true
}

// retire renames a folder whose lock is held, and gives the lock back.
func retire(lock *os.File, from, to string) error {
	err := os.Rename(from, to)
	release(lock)
	return err
}

// holder is the living process named in a lock file, or 0.
func holder(path string) int {
	b, err := regular.ReadFile(path)
	if err != nil {
		return 0
	}
	var pid int
	if _, err := fmt.Sscan(string(b), &pid); err != nil || errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) {
		return 0
	}
	return pid
}

// release gives the lock back; the file stays, for removing it would race with
// a process that has it open.
func release(lock *os.File) { lock.Close() }

func isFull(err error) bool {
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) || errors.Is(err, syscall.EFBIG)
}
