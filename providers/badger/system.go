//go:build darwin || freebsd || linux

package badger

import (
	"errors"
	"os"
	"syscall"
)

// canLock reports that files can be locked, which also reveals waiting processes.
const canLock = true

// tryLock takes an exclusive lock that ends with the process; false = it is held through
// another file.
func tryLock(f *os.File) (bool, error) { return flock(f, syscall.LOCK_EX) }

// tryShare takes a shared lock, unless there is an exclusive one.
func tryShare(f *os.File) (bool, error) { return flock(f, syscall.LOCK_SH) }

func flock(f *os.File, how int) (bool, error) {
	err := syscall.Flock(int(f.Fd()), how|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) || errors.Is(err, syscall.EINTR) {
		return false, nil
	}
	return err == nil, err
}

// freeBytes returns the disk space available to an ordinary user.
func freeBytes(dir string) (int64, bool) {
	var st syscall.Statfs_t
	if err := syscall.Statfs(dir, &st); err != nil {
		return 0, false
	}
	return int64(st.Bavail) * int64(st.Bsize), true
}
