//go:build unix

package process

import (
	"errors"
	"os"
	"strconv"
	"syscall"
)

// closeFilesOnExec marks our open files as close-on-exec. Go does that for files it opens, but our parent may have left
// others open.
func closeFilesOnExec() {
	files, _ := os.ReadDir("/dev/fd")
	for _, f := range files {
		if fd, err := strconv.Atoi(f.Name()); err == nil && fd > 2 {
			syscall.CloseOnExec(fd)
		}
	}
}

// terminateGroup sends SIGTERM to every process of a group.
func terminateGroup(leader int) { _ = syscall.Kill(-leader, syscall.SIGTERM) }

// killGroup kills every process of a group, which may be empty.
func killGroup(leader int) { _ = syscall.Kill(-leader, syscall.SIGKILL) }

// runnable returns why a file cannot be run, or nil.
func runnable(file string) error {
	info, err := os.Stat(file)
	switch {
	case err != nil:
		return errors.Unwrap(err)
	case info.IsDir():
		return errors.New("is a folder")
	case info.Mode().Perm()&0o111 == 0:
		return errors.New("its execute bit is not set")
	}
	return nil
}

// signalOf returns the name of the signal that ended a process, or "".
func signalOf(s *os.ProcessState) string {
	if w, ok := s.Sys().(syscall.WaitStatus); ok && w.Signaled() {
		return w.Signal().String()
	}
	return ""
}

func tooLong(err error) bool { return errors.Is(err, syscall.E2BIG) }
