//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package regular

import (
	"errors"
	"os"
	"runtime"
	"syscall"
)

// CanLock reports whether the system has locks that end with their process.
const CanLock = true

// Flags of flock.
const (
	exclusive   = syscall.LOCK_EX
	shared      = syscall.LOCK_SH
	nonblocking = syscall.LOCK_NB
)

// flock is flock(2).
func flock(f *os.File, how int) (bool, error) {
	for {
		err := syscall.Flock(int(f.Fd()), how)
		runtime.KeepAlive(f)
		switch {
		case err == nil:
			return true, nil
		case errors.Is(err, syscall.EINTR):
		case errors.Is(err, syscall.EWOULDBLOCK):
			return false, nil
		default:
			return false, &os.PathError{Op: "flock", Path: f.Name(), Err: err}
		}
	}
}
