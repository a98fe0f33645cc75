//go:build unix

package runcmd

import (
	"os/exec"
	"os/signal"
	"syscall"

	"github.com/pexctl/pex/internal/app/procguard"
)

// startAlone starts a command in its own session, so that it survives this
// terminal.
func startAlone(cmd *exec.Cmd) error {
	signal.Ignore(syscall.SIGHUP) // a command inherits ignored signals
	cmd.SysProcAttr = procguard.NewSession()
	return cmd.Start()
}
