//go:build linux

package main

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/pexctl/pex/cmd/pexctl/internal/project"
)

// A named pipe in the place of a stored spec is replaced, and never read.
func TestStoredSpecThatIsAPipeIsReplaced(t *testing.T) {
	home, body := t.TempDir(), []byte("kind: Agent\n")
	sum := sha256.Sum256(body)
	dir := filepath.Join(home, "remote", hex.EncodeToString(sum[:]))
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(filepath.Join(dir, "spec.yaml"), 0o600); err != nil {
		t.Fatal(err)
	}
	file, err := project.StoreFetched(home, body)
	if err != nil {
		t.Fatal(err)
	}
	if info, err := os.Lstat(file); err != nil || !info.Mode().IsRegular() {
		t.Fatalf("%v, %v", info, err)
	}
	if got, err := os.ReadFile(file); err != nil || string(got) != string(body) {
		t.Fatalf("%q, %v", got, err)
	}
}
