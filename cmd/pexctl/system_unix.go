//go:build unix

package main

import (
	"os/exec"
	"os/signal"
	"syscall"
)

// apart puts a process into a session of its own: no Ctrl-C and no closed
// terminal reaches it.
func apart() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }

// startAlone starts a command apart: the end of this terminal is not its end.
func startAlone(cmd *exec.Cmd) error {
	signal.Ignore(syscall.SIGHUP) // a command inherits what is ignored
	cmd.SysProcAttr = apart()
	return cmd.Start()
}

func endGroup(leader int) { _ = syscall.Kill(-leader, syscall.SIGKILL) }
