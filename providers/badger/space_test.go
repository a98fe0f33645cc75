//go:build darwin || freebsd || linux

package badger_test

import (
	"errors"
	"fmt"
	"strings"
	"syscall"
	"testing"

	"github.com/pexctl/pex/engine/memory"
	"github.com/pexctl/pex/engine/stop"
	"github.com/pexctl/pex/providers/badger"
)

// freeSpace returns the free disk space at a directory, in bytes.
func freeSpace(t *testing.T, dir string) int64 {
	t.Helper()
	var st syscall.Statfs_t
	if err := syscall.Statfs(dir, &st); err != nil {
		t.Fatal(err)
	}
	return int64(st.Bavail) * int64(st.Bsize)
}

func TestLargeWriteNeedsFreeSpace(t *testing.T) {
	if testing.Short() {
		t.Skip("one goroutine at work: left to the runs without -short")
	}
	dir := t.TempDir()
	free := freeSpace(t, dir)
	s := badger.Open(dir, badger.Options{FreeSpace: free - 64<<20})
	must(t, s.Append(t.Context(), interaction("c", "0")))
	var all []memory.Interaction
	for i := range 10 {
		in := interaction("c", fmt.Sprint("big", i))
		in.Answer = strings.Repeat("x", 8<<20-1<<10)
		all = append(all, in)
	}
	var full *badger.FullError
	if err := s.Append(t.Context(), all...); !errors.As(err, &full) || stopCode(err) != stop.StoreFull {
		t.Errorf("got %v", err)
	}
	checkHistory(t, dir, "c", 1)
}
