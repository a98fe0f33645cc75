package sandboxfs_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/pexctl/pex/engine/tool"
	"github.com/pexctl/pex/internal/sandboxfs"
)

// plant writes files to a new folder.
func plant(t *testing.T, files ...string) string {
	t.Helper()
	dir := t.TempDir()
	for _, name := range files {
		full := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(full, []byte(name), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func open(t *testing.T, dir, root string) *sandboxfs.Tree {
	t.Helper()
	f, err := sandboxfs.New(tool.Settings{Dir: dir}, root, sandboxfs.Hidden())
	if err != nil {
		t.Fatal(err)
	}
	tree, err := f.Open()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(tree.Close)
	return tree
}

func TestRootStaysInTheProject(t *testing.T) {
	project := plant(t, "specs/data/a.txt", "shared/b.txt")
	other := plant(t, "c.txt")
	s := tool.Settings{Dir: filepath.Join(project, "specs"), Root: project}
	tests := []struct {
		name, root string
		allow      []string
		want       string // error; "" = none
	}{
		{"none is the spec's folder", "", nil, ""},
		{"below the spec", "data", nil, ""},
		{"beside the spec", "../shared", nil, ""},
		{"the project", project, nil, ""},
		{"above the project", "../..", nil, "lies outside the project"},
		{"elsewhere", other, nil, "--allow-path " + other},
		{"elsewhere but opened", other, []string{other}, ""},
		{"above what was opened", filepath.Dir(other), []string{other}, "lies outside"},
		{"a name that starts alike", project + "-evil", nil, "lies outside"},
		{"NUL", "a\x00", nil, "NUL"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := s
			s.Allow = tt.allow
			f, err := sandboxfs.New(s, tt.root, nil)
			if err == nil && tt.want == "" {
				tree, err := f.Open()
				if err != nil {
					t.Fatal(err)
				}
				tree.Close()
			} else if err == nil || tt.want == "" || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error %v, want %q", err, tt.want)
			}
		})
	}
}

func TestRootMustNotBeLinkToOutside(t *testing.T) {
	project, other := plant(t, "a.txt"), plant(t, "secret.txt")
	if err := os.Symlink(other, filepath.Join(project, "data")); err != nil {
		t.Fatal(err)
	}
	f, err := sandboxfs.New(tool.Settings{Dir: project}, "data", nil)
	if err != nil {
		t.Fatal(err)
	}
	if tree, err := f.Open(); err == nil {
		tree.Close()
		t.Error("the link was followed")
	}
}

func TestRootIsCreatedOnlyForWriting(t *testing.T) {
	dir := t.TempDir()
	f, err := sandboxfs.New(tool.Settings{Dir: dir}, "out/deep", nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.Open(); err == nil {
		t.Error("a missing root was opened")
	}
	tree, err := f.Make()
	if err != nil {
		t.Fatal(err)
	}
	defer tree.Close()
	if _, err := tree.Write(t.Context(), "a/b.txt", []byte("x")); err != nil {
		t.Error(err)
	}
	if got, err := os.ReadFile(filepath.Join(dir, "out/deep/a/b.txt")); err != nil || string(got) != "x" {
		t.Errorf("%q, %v", got, err)
	}
}

// Settings.Enter is called before a folder is opened, and may refuse.
func TestOpenCallsEnter(t *testing.T) {
	dir := plant(t, "data/a.txt")
	var asked []string
	var no error
	f, err := sandboxfs.New(tool.Settings{Dir: dir, Enter: func(dir string) error {
		asked = append(asked, dir)
		return no
	}}, "data", nil)
	if err != nil || asked != nil {
		t.Fatal(asked, err)
	}
	tree, err := f.Open()
	if err != nil {
		t.Fatal(err)
	}
	tree.Close()
	no = errors.New("not now")
	if _, err := f.Make(); !errors.Is(err, no) {
		t.Errorf("got %v", err)
	}
	if d := cmp.Diff([]string{filepath.Join(dir, "data"), filepath.Join(dir, "data")}, asked); d != "" {
		t.Error(d)
	}
}

func TestInvalidExcludePatterns(t *testing.T) {
	for _, p := range []string{"[", "a/b"} {
		if _, err := sandboxfs.New(tool.Settings{Dir: t.TempDir()}, "", []string{p}); err == nil {
			t.Errorf("exclude %q was accepted", p)
		}
	}
}

func TestWriteIsAtomic(t *testing.T) {
	dir := plant(t, "a.txt")
	tree := open(t, dir, "")
	if err := os.Chmod(filepath.Join(dir, "a.txt"), 0o640); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := tree.Write(ctx, "a.txt", []byte("new")); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want the context's", err)
	}
	if got, _ := os.ReadFile(filepath.Join(dir, "a.txt")); string(got) != "a.txt" {
		t.Errorf("content %q after a cancelled write", got)
	}
	if existed, err := tree.Write(t.Context(), "a.txt", []byte("new")); err != nil || !existed {
		t.Errorf("existed %v, %v", existed, err)
	}
	info, err := os.Stat(filepath.Join(dir, "a.txt"))
	if err != nil || info.Mode().Perm() != 0o640 || info.Size() != 3 {
		t.Errorf("%v, %v: want mode 0640 kept", info, err)
	}
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 1 {
		t.Errorf("files left: %v, %v", entries, err)
	}
}

func TestWalk(t *testing.T) {
	dir := plant(t, "a.txt", "b/c.txt", "b/d/e.csv", "b/d/f.txt", ".git/config", ".env", "b/.env.local", "z.csv")
	if err := os.Symlink(t.TempDir(), filepath.Join(dir, "out")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("b", filepath.Join(dir, "in")); err != nil {
		t.Fatal(err)
	}
	tree := open(t, dir, "")
	tests := []struct{ name, dir, glob, want string }{
		{"one folder", ".", "*", "a.txt b/ in/ z.csv"},
		{"everything, links not entered", ".", "**", "a.txt b/ b/c.txt b/d/ b/d/e.csv b/d/f.txt in/ z.csv"},
		{"by ending", ".", "**/*.txt", "a.txt b/c.txt b/d/f.txt"},
		{"below a folder", "b", "*/*", "b/d/e.csv b/d/f.txt"},
		{"either", ".", "**/*.{csv,md}", "b/d/e.csv z.csv"},
		{"folders in the middle", ".", "b/**/f.txt", "b/d/f.txt"},
		{"hidden stays hidden", ".", "**/.*", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			g, err := sandboxfs.ParseGlob(tt.glob)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			err = tree.Walk(t.Context(), tt.dir, g, func(e sandboxfs.Entry) error {
				if e.Dir {
					e.Path += "/"
				}
				got = append(got, e.Path)
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, strings.Join(got, " ")); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestGlob(t *testing.T) {
	tests := []struct {
		glob, path string
		want       bool
	}{
		{"*", "a", true},
		{"*", "a/b", false},
		{"**", "a/b/c", true},
		{"**/*", "a", true},
		{"**/a", "a", true},
		{"**/a", "x/y/a", true},
		{"**/a", "a/x", false},
		{"a/**", "a/b/c", true},
		{"a/**", "a", true},
		{"a/**/b", "a/b", true},
		{"a/**/b", "a/x/y/b", true},
		{"a/**/b", "a/x/y/c", false},
		{"a/**/**/b", "a/x/b", true},
		{"**/a/**/b/**", "x/a/y/b/z", true},
		{"**/a/**/a/**/a", "a/a", false},
		{"**/a/**/a/**/a", "a/x/a/a", true},
		{"./a", "a", true},
		{"/a", "a", true},
		{"a//b", "a/b", true},
		{"a?c", "abc", true},
		{"a?c", "a/c", false},
		{"[a-c]x", "bx", true},
		{"{a,b}/{c,d}", "b/d", true},
		{"{a,b}/{c,d}", "b/e", false},
		{"{a,b{c,d}}", "bd", true},
		{"a{,b}", "a", true},
		{"{a", "{a", true},
		{"a}", "a}", true},
		{`\*`, "*", true},
		{`\*`, "a", false},
	}
	for _, tt := range tests {
		g, err := sandboxfs.ParseGlob(tt.glob)
		if err != nil {
			t.Errorf("%s: %v", tt.glob, err)
		} else if got := g.Match(tt.path); got != tt.want {
			t.Errorf("%s matches %s: %v, want %v", tt.glob, tt.path, got, tt.want)
		}
	}
}

func TestInvalidGlobs(t *testing.T) {
	for glob, want := range map[string]string{
		"[":                         "open bracket",
		"../*":                      `holds ".."`,
		"a/..":                      `holds ".."`,
		strings.Repeat("{a,b}", 10): "more than 64 patterns",
		strings.Repeat("a/", 100):   "the maximum is 60",
	} {
		if _, err := sandboxfs.ParseGlob(glob); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.20s: error %v, want %q", glob, err, want)
		}
	}
}

func FuzzClean(f *testing.F) {
	for _, s := range []string{"a/b", "../x", "/etc/passwd", "a/../b", "a\x00", ".env", "a//./b/", "~/x", `..\x`, "\xff"} {
		f.Add(s)
	}
	dir := f.TempDir()
	cut, err := sandboxfs.New(tool.Settings{Dir: dir}, "", sandboxfs.Hidden())
	if err != nil {
		f.Fatal(err)
	}
	tree, err := cut.Open()
	if err != nil {
		f.Fatal(err)
	}
	defer tree.Close()
	f.Fuzz(func(t *testing.T, name string) {
		rel, err := tree.Clean(name)
		if err != nil {
			return
		}
		if !filepath.IsLocal(rel) || strings.Contains("/"+rel+"/", "/../") || strings.ContainsRune(rel, 0) {
			t.Errorf("%q became %q", name, rel)
		}
		if again, err := tree.Clean(rel); err != nil || again != rel {
			t.Errorf("%q became %q, then %q (%v)", name, rel, again, err)
		}
	})
}

func FuzzGlob(f *testing.F) {
	for _, s := range []string{"**/*.go", "{a,b}", "[a-z]*", "**/**/**", `\`, "a/{b,c/{d,e}}/**"} {
		f.Add(s, "a/b/c.go")
	}
	f.Fuzz(func(_ *testing.T, glob, path string) {
		if g, err := sandboxfs.ParseGlob(glob); err == nil {
			g.Match(path)
		}
	})
}
