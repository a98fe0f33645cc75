//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd)

package regular

import (
	"errors"
	"os"
)

// CanLock reports whether the system has locks that end with their process.
const CanLock = false

// Flags of flock.
const exclusive, shared, nonblocking = 1, 2, 4

func flock(*os.File, int) (bool, error) { return false, errors.ErrUnsupported }
