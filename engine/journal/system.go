//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package journal

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"syscall"
	"time"

	"github.com/pexctl/pex/engine/regular"
)

// acquire locks a run until the file is closed or this process ends. A removed run takes
// its lock file along, so acquire retries if the locked file is no longer at its path.
func acquire(path, run string) (*os.File, error) {
	for range lockTries {
		lock, err := regular.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
		if err != nil {
			return nil, appendError(run, err)
		}
		if err = lockFile(lock, run, pidInFile); err == nil && !stillLinked(lock) {
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
	return nil, &InUseError{Run: run} // it is created and removed repeatedly
}

// lockJournal locks the journal of a run until it is closed. It returns errMoved if the
// file is no longer at its path.
func lockJournal(file *os.File, run string) (unlock func(), err error) {
	if err := lockFile(file, run, pidOfLock); err != nil {
		return nil, err
	}
	if !stillLinked(file) {
		return nil, errMoved
	}
	return func() {}, nil
}

// journalHolder reports whether a journal is locked, and by which process.
func journalHolder(path string) (pid int, yes bool) { return lockedBy(path, pidOfLock) }

// lockFile locks a file. holder returns the process that has it locked, or 0.
func lockFile(lock *os.File, run string, holder func(*os.File) int) error {
	for n := 0; ; n++ {
		locked, err := regular.TryLock(lock)
		if locked {
			return nil
		}
		if err != nil {
			return fmt.Errorf("lock run %s: %w", run, err)
		}
		pid := holder(lock)
		if n >= lockTries || n > 0 && pid != 0 {
			return &InUseError{Run: run, PID: pid}
		}
		time.Sleep(5 * time.Millisecond)
	}
}

func stillLinked(lock *os.File) bool {
	mine, err := lock.Stat()
	there, serr := os.Stat(lock.Name())
	return err == nil && serr == nil && os.SameFile(mine, there)
}

// lockHolder reports whether a lock file is locked, and by which process.
func lockHolder(path string) (pid int, yes bool) { return lockedBy(path, pidInFile) }

func lockedBy(path string, holder func(*os.File) int) (pid int, yes bool) {
	lock, err := regular.Open(path)
	if err != nil {
		return 0, false
	}
	defer lock.Close()
	if free, err := regular.TryShare(lock); free || err != nil {
		return 0, false
	}
	return holder(lock), true
}

// openShared opens the index for appending and locks it against compaction.
func openShared(path string) (*os.File, error) {
	for range lockTries {
		file, err := regular.OpenFile(path, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
		if err != nil {
			return nil, err
		}
		locked, err := regular.TryShare(file)
		if locked && stillLinked(file) {
			return file, nil
		}
		file.Close()
		if err != nil {
			return nil, err
		}
		time.Sleep(5 * time.Millisecond)
	}
	return nil, &fs.PathError{Op: "flock", Path: path, Err: syscall.EWOULDBLOCK}
}

// lockExclusive locks the index for compaction. It returns nil if there is none, or if
// another process uses it.
func lockExclusive(path string) (*os.File, error) {
	file, err := regular.OpenFile(path, os.O_RDWR, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	if locked, _ := regular.TryLock(file); !locked || !stillLinked(file) {
		file.Close()
		return nil, nil
	}
	return file, nil
}

// retire renames a locked folder and releases the lock.
func retire(lock *os.File, from, to string) error {
	err := os.Rename(from, to)
	release(lock)
	return err
}

// pidInFile returns the pid in a lock file if that process is alive, or 0.
func pidInFile(lock *os.File) int {
	b := make([]byte, 16)
	n, _ := lock.ReadAt(b, 0)
	var pid int
	if _, err := fmt.Sscan(string(b[:n]), &pid); err != nil || !isAlive(pid) {
		return 0
	}
	return pid
}

func isAlive(pid int) bool { return !errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) }

// pidOfLock returns the process that has a file locked for writing, or 0 if the kernel
// does not tell: only Linux does. A process that was killed while it started a child does
// not count: the child has the lock until it executes its program. A line of /proc/locks (proc_locks(5)) is
//
//	1: FLOCK  ADVISORY  WRITE 4242 fe:00:131074 0 EOF
func pidOfLock(file *os.File) int {
	var stat syscall.Stat_t
	if err := syscall.Fstat(int(file.Fd()), &stat); err != nil {
		return 0
	}
	locks, err := os.ReadFile("/proc/locks")
	if err != nil {
		return 0
	}
	dev := uint64(stat.Dev)
	major, minor := dev>>8&0xfff|dev>>32&^0xfff, dev&0xff|dev>>12&^0xff
	inode := fmt.Sprintf("%02x:%02x:%d", major, minor, stat.Ino)
	for line := range strings.Lines(string(locks)) {
		f := strings.Fields(line)
		if len(f) < 6 || f[1] != "FLOCK" || f[3] != "WRITE" || f[5] != inode {
			continue
		}
		var pid int
		if _, err := fmt.Sscan(f[4], &pid); err != nil || pid < 0 || !isAlive(pid) {
			return 0
		}
		return pid
	}
	return 0
}

// release releases the lock. The file stays: removing it would race with a process that
// has it open.
func release(lock *os.File) { lock.Close() }

func isFull(err error) bool {
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) || errors.Is(err, syscall.EFBIG)
}
