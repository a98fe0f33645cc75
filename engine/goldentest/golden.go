package goldentest

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/rogpeppe/go-internal/diff"
)

// T is the part of *testing.T that is needed.
type T interface {
	Helper()
	Errorf(format string, args ...any)
	Fatalf(format string, args ...any)
}

// File compares got with testdata/<name>.
func File(t T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", filepath.FromSlash(name))
	want, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatalf("golden: %v", err)
		return
	}
	if err == nil && string(want) == got {
		return
	}
	if updating(t) {
		write(t, path, []byte(got))
		return
	}
	if err != nil {
		t.Errorf("golden: %s does not exist; make golden writes it. Got:\n%s", path, got)
		return
	}
	differs(t, path, want, []byte(got))
}

// updating reports whether files are to be rewritten.
func updating(t T) bool {
	t.Helper()
	switch mode := os.Getenv("PEX_GOLDEN"); mode {
	case "":
		return false
	case "update":
		if os.Getenv("CI") != "" {
			t.Fatalf("golden: PEX_GOLDEN=update while CI is set: golden files must not be updated in CI; run make golden on your machine")
			return false
		}
		return true
	default:
		t.Fatalf("golden: invalid PEX_GOLDEN=%s; use update", mode)
		return false
	}
}

// write replaces a file atomically.
func write(t T, path string, content []byte) {
	t.Helper()
	if err := replace(path, content); err != nil {
		t.Fatalf("golden: %v", err)
	}
}

func replace(path string, content []byte) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	next := path + ".next"
	if err := os.WriteFile(next, content, 0o644); err != nil {
		return err
	}
	return os.Rename(next, path)
}

func differs(t T, name string, want, got []byte) {
	t.Helper()
	shown := diff.Diff(name, withNewline(want), "got", withNewline(got))
	if len(shown) == 0 {
		t.Errorf("golden: %s differs in the newline at its end (make golden rewrites it)", name)
		return
	}
	t.Errorf("golden: %s differs (make golden rewrites it):\n%s", name, shown)
}

// withNewline returns text with a newline at its end, for the diff.
func withNewline(b []byte) []byte {
	if len(b) == 0 || bytes.HasSuffix(b, []byte("\n")) {
		return b
	}
	return append(bytes.Clone(b), '\n')
}
