//go:build !unix

package process

import (
	"errors"
	"os"
	"syscall"
)

func ownGroup() *syscall.SysProcAttr { return nil }

// terminateGroup and killGroup affect only the child, because this system has no process groups.
func terminateGroup(leader int) { killGroup(leader) }

func killGroup(leader int) {
	if p, err := os.FindProcess(leader); err == nil {
		_ = p.Kill()
	}
}

// Sweep does nothing, because processes cannot be found by their mark on this system.
func Sweep(string) {}

func closeFilesOnExec() {}

func runnable(file string) error {
	info, err := os.Stat(file)
	switch {
	case err != nil:
		return errors.Unwrap(err)
	case info.IsDir():
		return errors.New("is a folder")
	}
	return nil
}

func signalOf(*os.ProcessState) string { return "" }

func tooLong(error) bool { return false }
