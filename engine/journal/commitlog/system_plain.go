//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd)

package commitlog

import (
	"errors"
	"os"
)

// hasLocks reports whether a file can be locked until its process ends.
const hasLocks = false

// lockDir returns an error: without flock, it is unknown whether the owner of a log has ended.
func lockDir(string) (unlock func(), err error) { return nil, errors.ErrUnsupported }

func lockFile(*os.File) (locked bool, err error) { return false, errors.ErrUnsupported }

func isReadOnly(error) bool { return false }
