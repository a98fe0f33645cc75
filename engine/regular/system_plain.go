//go:build !unix

package regular

// nonblock is not needed: opening a file does not wait here.
const nonblock = 0

// dirSyncs says that a directory cannot be synced here.
const dirSyncs = false
