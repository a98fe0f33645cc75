//go:build unix

package main

import "syscall"

// apart puts the guard into a session of its own: no Ctrl-C and no closed
// terminal reaches it.
func apart() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }

func endGroup(leader int) { _ = syscall.Kill(-leader, syscall.SIGKILL) }
