//go:build !unix

package regular

// nonblock is not needed: opening a file does not wait here.
const nonblock = 0
