//go:build unix

package bleve_test

import "syscall"

// makeFIFO creates a FIFO.
func makeFIFO(path string) error { return syscall.Mkfifo(path, 0o600) }
