//go:build unix

package process

import (
	"errors"
	"os"
	"strconv"
	"syscall"
)

// keepFiles closes our open files to children. Those that Go opens are closed
// to them anyway; those that whoever started us left open are not.
func keepFiles() {
	files, _ := os.ReadDir("/dev/fd")
	for _, f := range files {
		if fd, err := strconv.Atoi(f.Name()); err == nil && fd > 2 {
			syscall.CloseOnExec(fd)
		}
	}
}

// askGroup asks every process of a group to end.
func askGroup(leader int) { _ = syscall.Kill(-leader, syscall.SIGTERM) }

// endGroup kills every process of a group; an empty group is no error.
func endGroup(leader int) { _ = syscall.Kill(-leader, syscall.SIGKILL) }

// runnable says why a file cannot be run, or nil.
func runnable(file string) error {
	info, err := os.Stat(file)
	switch {
	case err != nil:
		return errors.Unwrap(err)
	case info.IsDir():
		return errors.New("it is a folder")
	case info.Mode().Perm()&0o111 == 0:
		return errors.New("its execute bit is not set")
	}
	return nil
}

// signalOf names the signal that ended a process, or "".
func signalOf(s *os.ProcessState) string {
	if w, ok := s.Sys().(syscall.WaitStatus); ok && w.Signaled() {
		return w.Signal().String()
	}
	return ""
}

func tooLong(err error) bool { return errors.Is(err, syscall.E2BIG) }
