//go:build !unix

package runcmd

import (
	"errors"
	"os/exec"
)

// startAlone needs sessions, which only Unix has.
func startAlone(*exec.Cmd) error {
	return errors.New("--detach is supported on Unix only; start pexctl in another window instead")
}
