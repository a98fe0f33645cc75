//go:build unix

package mcp_test

import (
	"errors"
	"syscall"
)

// isRunning reports whether a process runs.
func isRunning(pid int) bool { return !errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) }
