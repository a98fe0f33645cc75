//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package webhook

import (
	"errors"
	"fmt"
	"os"
	"syscall"
	"time"

	"github.com/pexctl/pex/engine/regular"
)

// A process that was killed while it started a child holds its locks for a moment longer.
const (
	lockTries = 200
	lockPause = 5 * time.Millisecond
)

// acquire locks a file until it is closed or this process ends.
func acquire(path string) (*os.File, error) {
	file, err := regular.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	for range lockTries {
		if err = syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err == nil {
			return file, nil
		}
		if !errors.Is(err, syscall.EWOULDBLOCK) {
			break
		}
		time.Sleep(lockPause)
	}
	_ = file.Close()
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return nil, fmt.Errorf("%s is locked: another server uses this home", path)
	}
	return nil, fmt.Errorf("lock %s: %w", path, err)
}
