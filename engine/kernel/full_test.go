//go:build linux

package kernel_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/pexctl/pex/engine/journal"
	"github.com/pexctl/pex/engine/kernel"
)

// A real full disk: the run stops cleanly and its file is whole; with space
// again the same run goes on.
func TestFullDisk(t *testing.T) {
	dir := t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=1m"); err != nil {
		t.Skip("mounting a small disk needs root: ", err)
	}
	defer func() { _ = syscall.Unmount(dir, syscall.MNT_DETACH) }()
	fill := filepath.Join(dir, "fill")
	if err := os.WriteFile(fill, make([]byte, 900<<10), 0o600); err != nil {
		t.Fatal(err)
	}
	const effects = 60
	text := strings.Repeat("x", 5000)
	performed := 0
	prog := func(s *kernel.Scope) error {
		for i := range effects {
			v, err := kernel.Do(s, kernel.Effect[string]{Name: fmt.Sprint("e", i), Class: journal.Write, Perform: func(context.Context, string) (string, error) {
				performed++
				return text, nil
			}})
			if err != nil || v != text {
				t.Error("node code saw", err)
				return err
			}
		}
		return nil
	}
	h, err := journal.OpenHome(dir, journal.Sync)
	if err != nil {
		t.Fatal(err)
	}
	session := func(resolve map[string]string) error {
		f, err := openOrCreate(h, "r")
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		if f.Dropped() != 0 {
			t.Error("the file ended in the middle of a line")
		}
		_, err = runWith(t.Context(), kernel.Options{RunID: "r", Journal: f, Resolve: resolve}, prog)
		return err
	}
	if err := session(nil); !errors.Is(err, journal.ErrFull) || performed == effects {
		t.Fatal(err, performed)
	}
	if err := os.Remove(fill); err != nil {
		t.Fatal(err)
	}
	err = session(nil)
	if review, ok := errors.AsType[*kernel.NeedsReview](err); ok { // the write whose result did not fit
		err = session(map[string]string{review.Path: `done:"` + text + `"`})
	}
	if err != nil || performed != effects {
		t.Fatal(err, performed)
	}
}
