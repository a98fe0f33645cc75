//go:build unix

package main

import (
	"os/exec"
	"os/signal"
	"syscall"
)

// startAlone starts a command in a session of its own: the end of this terminal
// is not its end.
func startAlone(cmd *exec.Cmd) error {
	signal.Ignore(syscall.SIGHUP) // a command inherits what is ignored
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	return cmd.Start()
}
