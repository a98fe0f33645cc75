//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package indexcache

import (
	"errors"
	"os"
	"syscall"
)

// tryLock takes an exclusive lock that ends with the file or the process; false = it is
// held through another file.
func tryLock(f *os.File) (bool, error) {
	err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) || errors.Is(err, syscall.EINTR) {
		return false, nil
	}
	return err == nil, err
}
