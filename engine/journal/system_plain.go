//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd)

package journal

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"github.com/pexctl/pex/engine/regular"
)

// acquire locks a run by creating its lock file, for systems without flock. It takes over
// the file of a process known to have ended.
func acquire(path, run string) (*os.File, error) {
	var before []byte // contents left by a killed process, including the extent
	for range 2 {
		lock, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o600)
		if err == nil {
			_, err = fmt.Fprintf(lock, "%-10d\n", os.Getpid())
			if err == nil && len(before) > extentAt {
				_, err = lock.WriteAt(before[extentAt:], extentAt)
			}
			return lock, err
		}
		if !errors.Is(err, fs.ErrExist) {
			return nil, appendError(run, err)
		}
		var pid int
		before, _ = os.ReadFile(path)
		_, _ = fmt.Sscan(string(before), &pid)
		if _, err := os.FindProcess(pid); pid == 0 || err == nil {
			return nil, &InUseError{Run: run, PID: pid}
		}
		_ = os.Remove(path)
	}
	return nil, &InUseError{Run: run}
}

// lockJournal locks the journal of a run with a file beside it.
func lockJournal(file *os.File, run string) (unlock func(), err error) {
	lock, err := acquire(file.Name()+lockSuffix, run)
	if err != nil {
		return nil, err
	}
	return func() { release(lock) }, nil
}

// journalHolder reports whether a journal is locked, and by which process.
func journalHolder(path string) (pid int, yes bool) { return lockHolder(path + lockSuffix) }

// openShared opens the index for appending.
func openShared(path string) (*os.File, error) {
	return regular.OpenFile(path, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
}

// lockExclusive returns nil: without flock, the index is not compacted.
func lockExclusive(string) (*os.File, error) { return nil, nil }

// lockHolder reports whether a lock file names a living process.
func lockHolder(path string) (pid int, yes bool) {
	b, err := os.ReadFile(path)
	if err != nil {
		return 0, false
	}
	_, _ = fmt.Sscan(string(b), &pid)
	_, err = os.FindProcess(pid)
	return pid, pid != 0 && err == nil
}

// retire renames a folder. Without flock an open file may block that, so the lock is
// released first.
func retire(lock *os.File, from, to string) error {
	release(lock)
	return os.Rename(from, to)
}

func release(lock *os.File) {
	lock.Close()
	_ = os.Remove(lock.Name())
}

func isFull(err error) bool {
	var p *fs.PathError
	if !errors.As(err, &p) {
		return false
	}
	text := p.Err.Error()
	return strings.Contains(text, "not enough space") || strings.Contains(text, "no space left")
}
