//go:build unix

package runcmd

import (
	"os/exec"
	"os/signal"
	"syscall"

	"github.com/pexctl/pex/internal/app/procguard"
)

// startAlone starts a command apart: the end of this terminal is not its end.
func startAlone(cmd *exec.Cmd) error {
	signal.Ignore(syscall.SIGHUP) // a command inherits what is ignored
	cmd.SysProcAttr = procguard.NewSession()
	return cmd.Start()
}
