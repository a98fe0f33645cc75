//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd)

package webhook

import (
	"os"

	"github.com/pexctl/pex/engine/regular"
)

// acquire opens the file; the system has no flock.
func acquire(path string) (*os.File, error) {
	return regular.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
}
