//go:build !unix

package regular

// nonblock is not needed: opening does not block here.
const nonblock = 0

// dirSyncs reports whether directories can be synced.
const dirSyncs = false
