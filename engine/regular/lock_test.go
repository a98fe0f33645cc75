package regular_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/pexctl/pex/engine/regular"
)

// opener returns a function that opens a new file each time; they are the same file.
func opener(t *testing.T) func() *os.File {
	path := filepath.Join(t.TempDir(), "lock")
	return func() *os.File {
		f, err := regular.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { f.Close() })
		return f
	}
}

func TestLocksExcludeEachOther(t *testing.T) {
	open := opener(t)
	check := func(what string, lock func(*os.File) (bool, error), f *os.File, want bool) {
		t.Helper()
		got, err := lock(f)
		if !regular.CanLock {
			if !errors.Is(err, errors.ErrUnsupported) {
				t.Errorf("%s: %v", what, err)
			}
			return
		}
		if got != want || err != nil {
			t.Errorf("%s: %v, %v", what, got, err)
		}
	}
	one, two, three := open(), open(), open()
	check("share a free file", regular.TryShare, one, true)
	check("share it again", regular.TryShare, two, true)
	check("lock a shared file", regular.TryLock, three, false)
	one.Close()
	two.Close()
	check("lock it once it is closed", regular.TryLock, three, true)
	check("lock a locked file", regular.TryLock, open(), false)
	check("share a locked file", regular.TryShare, open(), false)
}

func TestLockWaits(t *testing.T) {
	if !regular.CanLock {
		t.Skip("no locks")
	}
	open := opener(t)
	first, second := open(), open()
	if err := regular.Lock(first); err != nil {
		t.Fatal(err)
	}
	done := make(chan error)
	go func() { done <- regular.Lock(second) }()
	select {
	case err := <-done:
		t.Fatalf("it was locked twice: %v", err)
	default:
	}
	first.Close()
	if err := <-done; err != nil {
		t.Error(err)
	}
}

// A lock that the system cannot take is an error, not a lock that someone else has.
func TestFailedLockIsAnError(t *testing.T) {
	f := opener(t)()
	f.Close()
	for name, lock := range map[string]func(*os.File) (bool, error){"lock": regular.TryLock, "share": regular.TryShare} {
		if locked, err := lock(f); locked || err == nil {
			t.Errorf("%s: %v, %v", name, locked, err)
		}
	}
}
