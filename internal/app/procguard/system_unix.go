//go:build unix

package procguard

import "syscall"

// NewSession returns attributes that start a process in a session of its own, where it receives no Ctrl-C and no
// hangup of the terminal.
func NewSession() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }

func endGroup(leader int) { _ = syscall.Kill(-leader, syscall.SIGKILL) }
