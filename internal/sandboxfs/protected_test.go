package sandboxfs_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pexctl/pex/engine/tool"
	"github.com/pexctl/pex/internal/sandboxfs"
)

// Links inside the root do not give access to excluded files or allow writing protected ones.
func TestLinksDoNotBypassRestrictions(t *testing.T) {
	dir := plant(t, ".env", "sub/secret.pem", "sub/plain.txt", ".git/config")
	for link, target := range map[string]string{
		"env": ".env", "pem": "sub/secret.pem", "chain": "sub/back", "sub/back": "../pem", "plain": "sub/plain.txt", "folder": "sub", "git": "./.git/.", "around": "sub/../sub/../.env",
	} {
		if err := os.Symlink(target, filepath.Join(dir, link)); err != nil {
			t.Fatal(err)
		}
	}
	f, err := sandboxfs.New(tool.Settings{Dir: dir}, "", []string{".env", "*.pem", ".git"})
	if err != nil {
		t.Fatal(err)
	}
	tree, err := f.Open()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(tree.Close)
	tests := []struct {
		path string
		want string // of the error; "" = the file is read
	}{
		{"env", `it is a link to ".env"`},
		{"pem", "excludes *.pem"},
		{"chain", "excludes *.pem"},
		{"folder/back", "excludes *.pem"},
		{"around", "excludes .env"},
		{"git/config", "excludes .git"},
		{"plain", ""},
		{"folder/plain.txt", ""},
	}
	for _, tt := range tests {
		t.Run(tt.path, func(t *testing.T) {
			file, _, err := tree.File(tt.path)
			if err == nil {
				file.Close()
			}
			if tt.want == "" && err != nil || tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)) {
				t.Errorf("error %v, want %q", err, tt.want)
			}
		})
	}
	if _, err := tree.Write(t.Context(), "git/config", []byte("x")); err == nil {
		t.Error("a link led a write into .git")
	}
	if _, err := tree.Write(t.Context(), "folder/new.txt", []byte("x")); err != nil {
		t.Error(err)
	}
}

// A root that is a link counts as its target, so a root below .git is not writable, whatever other names .git has on
// some file systems.
func TestRootDoesNotBypassProtection(t *testing.T) {
	dir := plant(t, ".git/hooks/a", "sub/x")
	for link, target := range map[string]string{"data": ".git", "hooks": "sub/../.git/hooks", "plain": "sub"} {
		if err := os.Symlink(target, filepath.Join(dir, link)); err != nil {
			t.Fatal(err)
		}
	}
	for _, tt := range []struct {
		root, path string
		written    bool
	}{
		{"data", "config", false},
		{"hooks", "post-commit", false},
		{"plain", "config", true},
		{"plain", "git~1/config", false},
		{"plain", "GIT~1/config", false},
		{"plain", ".git::$INDEX_ALLOCATION/config", false},
		{"plain", "10:30.txt", true},
		{"plain", ":x", true},
	} {
		f, err := sandboxfs.New(tool.Settings{Dir: dir}, tt.root, nil)
		if err != nil {
			t.Fatal(err)
		}
		tree, err := f.Open()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := tree.Write(t.Context(), tt.path, []byte("x")); (err == nil) != tt.written {
			t.Errorf("root %s, path %s: %v", tt.root, tt.path, err)
		}
		tree.Close()
	}
}

func TestDisplayPathIsOneLine(t *testing.T) {
	for path, want := range map[string]string{
		"a b/ü.txt": "a b/ü.txt", "a\nb": `"a\nb"`, "\x1b[2J": `"\x1b[2J"`, "a\u202eb": `"a\u202eb"`, "a\u2028b": `"a\u2028b"`, "\xff": `"\xff"`,
	} {
		if got := sandboxfs.DisplayPath(path); got != want {
			t.Errorf("%q is shown as %s, want %s", path, got, want)
		}
	}
}
