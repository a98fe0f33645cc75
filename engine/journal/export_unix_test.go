//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package journal

// LockFile locks a file that is open.
var LockFile = lockFile
