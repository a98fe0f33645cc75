//go:build !unix

package process

import (
	"errors"
	"os"
	"syscall"
)

func ownGroup() *syscall.SysProcAttr { return nil }

// askGroup and endGroup reach the child alone: there are no groups here.
func askGroup(leader int) { endGroup(leader) }

func endGroup(leader int) {
	if p, err := os.FindProcess(leader); err == nil {
		_ = p.Kill()
	}
}

// Sweep has no way to find processes by their mark on this system.
func Sweep(string) {}

func keepFiles() {}

func runnable(file string) error {
	info, err := os.Stat(file)
	switch {
	case err != nil:
		return errors.Unwrap(err)
	case info.IsDir():
		return errors.New("it is a folder")
	}
	return nil
}

func signalOf(*os.ProcessState) string { return "" }

func tooLong(error) bool { return false }
