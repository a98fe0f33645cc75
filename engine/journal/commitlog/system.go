//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package commitlog

import (
	"errors"
	"os"
	"syscall"
)

// hasLocks reports whether a file can be locked until its process ends.
const hasLocks = true

// lockDir locks a folder until unlock is called. It waits for other processes.
func lockDir(dir string) (unlock func(), err error) {
	d, err := os.Open(dir)
	if err != nil {
		return nil, err
	}
	for {
		if err = syscall.Flock(int(d.Fd()), syscall.LOCK_EX); !errors.Is(err, syscall.EINTR) {
			break
		}
	}
	if err != nil {
		d.Close()
		return nil, &os.PathError{Op: "flock", Path: dir, Err: err}
	}
	return func() { d.Close() }, nil
}

// lockFile locks a file until it is closed, unless it is locked.
func lockFile(file *os.File) (locked bool, err error) {
	err = syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return false, nil
	}
	return err == nil, err
}

func isReadOnly(err error) bool { return errors.Is(err, syscall.EROFS) }
