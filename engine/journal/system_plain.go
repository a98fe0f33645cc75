//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd)

package journal

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
)

// acquire locks a run by making its lock file, where there is no flock. What
// a killed process left behind is taken over when its pid is known to be gone.
func acquire(path, run string) (*os.File, error) {
	for range 2 {
		lock, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o600)
		if err == nil {
			_, err = fmt.Fprintf(lock, "%d\n", os.Getpid())
			return lock, err
		}
		if !errors.Is(err, fs.ErrExist) {
			return nil, appendError(run, err)
		}
		var pid int
		b, _ := os.ReadFile(path)
		_, _ = fmt.Sscan(string(b), &pid)
		if _, err := os.FindProcess(pid); pid == 0 || err == nil {
			return nil, &HeldError{run, pid}
		}
		_ = os.Remove(path)
	}
	return nil, &HeldError{Run: run}
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

// syncDir does nothing: a folder cannot be synced here.
func syncDir(string) error { return nil }
