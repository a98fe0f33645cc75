//go:build !unix

package mcp_test

import "os"

// isRunning reports whether a process runs.
func isRunning(pid int) bool {
	p, err := os.FindProcess(pid)
	if err != nil {
		return false
	}
	_ = p.Release()
	return true
}
