//go:build darwin || freebsd || linux

package badger_test

import (
	"os"
	"syscall"
	"testing"
)

// lockFor holds a store's lock as another process would.
func lockFor(t *testing.T, path string) (release func()) {
	t.Helper()
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX); err != nil {
		t.Fatal(err)
	}
	return func() { f.Close() }
}
