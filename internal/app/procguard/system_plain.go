//go:build !unix

package procguard

import "syscall"

// NewSession returns nil, because this system has no sessions.
func NewSession() *syscall.SysProcAttr { return nil }

// endGroup does nothing, because this system has no process groups.
func endGroup(int) {}
