//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package journal

import (
	"errors"
	"fmt"
	"os"
	"syscall"
	"time"
)

// patience is how often acquire looks again for a holder that is between its
// lock and its pid.
const patience = 20

// acquire locks a run for as long as this process lives and the file is open.
func acquire(path, run string) (*os.File, error) {
	lock, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, appendError(run, err)
	}
	for n := 0; ; n++ {
		if err = syscall.Flock(int(lock.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err == nil {
			break
		}
		if !errors.Is(err, syscall.EWOULDBLOCK) {
			lock.Close()
			return nil, fmt.Errorf("lock run %s: %w", run, err)
		}
		pid := holder(path)
		if pid == 0 && n < patience {
			time.Sleep(5 * time.Millisecond)
			continue
		}
		lock.Close()
		return nil, &HeldError{run, pid}
	}
	if _, err := fmt.Fprintf(lock, "%-10d\n", os.Getpid()); err != nil {
		lock.Close()
		return nil, appendError(run, err)
	}
	return lock, nil
}

// holder is the living process named in a lock file, or 0.
func holder(path string) int {
	b, err := os.ReadFile(path)
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
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT)
}

func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer d.Close()
	return d.Sync()
}
