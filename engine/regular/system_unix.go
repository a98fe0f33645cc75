//go:build unix

package regular

import "syscall"

// nonblock keeps the opening of a FIFO from waiting for its other end.
const nonblock = syscall.O_NONBLOCK

// dirSyncs says that a directory can be synced.
const dirSyncs = true
