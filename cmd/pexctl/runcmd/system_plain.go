//go:build !unix

package runcmd

import (
	"errors"
	"os/exec"
)

// startAlone needs sessions, which only Unix has.
func startAlone(*exec.Cmd) error {
	return errors.New("--detach needs Unix; here, leave it out and start pexctl in a window of its own")
}
