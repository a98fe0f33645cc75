//go:build unix

package regular

import "syscall"

// nonblock keeps the opening of a FIFO from blocking.
const nonblock = syscall.O_NONBLOCK

// dirSyncs reports whether directories can be synced.
const dirSyncs = true
