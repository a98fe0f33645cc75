//go:build !unix

package procguard

import "syscall"

// Apart does nothing where there are no sessions.
func Apart() *syscall.SysProcAttr { return nil }

// endGroup does nothing where there are no process groups.
func endGroup(int) {}
