//go:build unix

package processtest

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// Canary is part of every text that Plant leaves behind.
const Canary = "canary-of-the-parent"

// Plant leaves canaries where a child could find them: in the environment of this process, and in open files
// without the close-on-exec flag. It returns the texts that no child may have.
func Plant(t *testing.T) (secrets []string) {
	t.Helper()
	for _, name := range []string{"PEX_HOME", "AWS_SECRET_ACCESS_KEY", "OPENAI_API_KEY", "SSH_AUTH_SOCK", "UNDECLARED"} {
		t.Setenv(name, Canary+"-"+name)
	}
	store := filepath.Join(t.TempDir(), "store", Canary)
	if err := os.MkdirAll(filepath.Dir(store), 0o700); err != nil {
		t.Fatal(err)
	}
	f, err := os.Create(store)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	for range 3 {
		fd, err := syscall.Dup(int(f.Fd())) // children inherit a duplicate
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = syscall.Close(fd) })
	}
	return []string{Canary, filepath.Dir(store)}
}
