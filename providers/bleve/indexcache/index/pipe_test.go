//go:build linux

package index_test

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/pexctl/pex/providers/bleve/indexcache/index"
)

// A named pipe counts as damage; opening it does not block.
func TestNamedPipeIsDamage(t *testing.T) {
	for _, name := range []string{"manifest", "*.seg", "*.vec"} {
		t.Run(filepath.Base(name), func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "x")
			create(t, dir)
			for _, file := range must(filepath.Glob(filepath.Join(dir, name)))(t) {
				if err := errors.Join(os.Remove(file), syscall.Mkfifo(file, 0o600)); err != nil {
					t.Fatal(err)
				}
			}
			if _, err := use(t, dir); !errors.Is(err, index.ErrBroken) {
				t.Errorf("error %v, want ErrBroken", err)
			}
		})
	}
}
