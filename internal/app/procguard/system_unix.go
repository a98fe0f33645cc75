//go:build unix

package procguard

import "syscall"

// NewSession puts a process into a session of its own: no Ctrl-C and no closed
// terminal reaches it.
func NewSession() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }

func endGroup(leader int) { _ = syscall.Kill(-leader, syscall.SIGKILL) }
