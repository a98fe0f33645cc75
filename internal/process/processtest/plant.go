//go:build unix

package processtest

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// Canary stands in what Plant leaves lying about.
const Canary = "canary-of-the-parent"

// Plant leaves canaries where a child could find them: in the environment of
// this process, and in files that it holds open as if whoever started it had
// left them so. It returns the texts that no child may know.
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
		fd, err := syscall.Dup(int(f.Fd())) // a copy is open to children
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = syscall.Close(fd) }) // it was there to be seen
	}
	return []string{Canary, filepath.Dir(store)}
}
