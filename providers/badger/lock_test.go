//go:build darwin || freebsd || linux

package badger_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/pexctl/pex/providers/badger"
)

// lockFor locks a file as another process would.
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

func TestLockedErrorNamesTheProcess(t *testing.T) {
	dir := t.TempDir()
	fill(t, dir, 1)
	release := lockFor(t, filepath.Join(dir, "pex-store.lock"))
	_, err := badger.Open(dir, badger.Options{LockWait: time.Millisecond}).History(t.Context(), "c")
	var locked *badger.LockedError
	if !errors.As(err, &locked) || locked.PID != os.Getpid() || !strings.Contains(err.Error(), strconv.Itoa(os.Getpid())) {
		t.Errorf("got %v", err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
	defer cancel()
	_, err = badger.Open(dir, badger.Options{}).History(ctx, "c")
	if !errors.As(err, &locked) || !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("ended by the context: %v", err)
	}
	release()
	checkHistory(t, dir, "c", 1)
}
