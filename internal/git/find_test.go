package git_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pexctl/pex/internal/git"
)

// Only an entry named .git makes a repository, and it must not point to files that a commit can contain.
func TestFindRequiresRealGitDirectory(t *testing.T) {
	tests := []struct {
		name  string
		files map[string]string // content; a name with / at its end is a folder
		path  string
		top   string // "" = an error
		want  string // of the error
	}{
		{"a .git folder", map[string]string{"a/.git/": "", "a/b/": ""}, "a/b/c", "a", ""},
		{"none", map[string]string{"a/": ""}, "a", "", "not in a git repository"},
		{"a bare repository among files", map[string]string{"a/.git/": "", "a/b/HEAD": "", "a/b/objects/": "", "a/b/refs/": ""}, "a/b", "a", ""},
		{"a linked worktree", map[string]string{"a/.git/worktrees/w/": "", "w/.git": "gitdir: ../a/.git/worktrees/w\n"}, "w", "w", ""},
		{"a linked worktree in the repository", map[string]string{"a/.git/worktrees/w/": "", "a/w/.git": "gitdir: ../.git/worktrees/w\n"}, "a/w", "a/w", ""},
		{"a submodule", map[string]string{"a/.git/modules/s/": "", "a/s/.git": "gitdir: ../.git/modules/s"}, "a/s", "a/s", ""},
		{"worktrees beside a bare repository", map[string]string{"p/.bare/worktrees/w/": "", "p/.git": "gitdir: ./.bare", "p/w/.git": "gitdir: ../.bare/worktrees/w"}, "p/w", "p/w", ""},
		{"a file that leads to its own folder", map[string]string{"a/.git/": "", "a/b/.git": "gitdir: ."}, "a/b", "", "inside the work tree"},
		{"a file that leads below its own folder", map[string]string{"a/b/.git": "gitdir: repo", "a/b/repo/": ""}, "a/b", "", "inside the work tree"},
		{"a file that leads to another folder of the work tree", map[string]string{"a/.git/": "", "a/evil/": "", "a/b/.git": "gitdir: ../evil"}, "a/b", "", "inside the work tree"},
		{"a file of another format", map[string]string{"a/.git": "hello"}, "a", "", "not a gitdir file"},
		{"a file that leads nowhere", map[string]string{"a/.git": "gitdir: none"}, "a", "", "no such file"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dir, err := filepath.EvalSymlinks(t.TempDir())
			if err != nil {
				t.Fatal(err)
			}
			for name, content := range tt.files {
				full := filepath.Join(dir, name)
				if strings.HasSuffix(name, "/") {
					err = os.MkdirAll(full, 0o755)
				} else if err = os.MkdirAll(filepath.Dir(full), 0o755); err == nil {
					err = os.WriteFile(full, []byte(content), 0o600)
				}
				if err != nil {
					t.Fatal(err)
				}
			}
			repo, err := git.Find(filepath.Join(dir, tt.path))
			if tt.top == "" {
				if err == nil || !strings.Contains(err.Error(), tt.want) {
					t.Fatalf("error %v, want %q", err, tt.want)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if want := filepath.Join(dir, tt.top); repo.Top() != want {
				t.Errorf("top %s, want %s", repo.Top(), want)
			}
		})
	}
}

// Names that look like an option, a range or a path have no side effects.
func TestCommitAcceptsOnlyNames(t *testing.T) {
	if _, err := exec.LookPath("git"); errors.Is(err, exec.ErrNotFound) {
		t.Skip("git is not installed")
	}
	dir := t.TempDir()
	for _, args := range [][]string{
		{"init", "-q", "-b", "main"},
		{"-c", "user.name=a", "-c", "user.email=a@example.com", "commit", "-q", "--allow-empty", "-m", "x"},
		{"tag", "both"},
		{"branch", "both"},
		{"branch", "one"},
		{"branch", "deep/one"},
	} {
		cmd := exec.Command("git", args...)
		cmd.Dir = dir
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
	}
	repo, err := git.At(dir)
	if err != nil {
		t.Fatal(err)
	}
	for ref, want := range map[string]bool{
		"HEAD": true, "main": true, "one": true, "deep/one": true, "refs/tags/both": true, "both": false,
		"--all": false, "--git-dir=x": false, "main..one": false, "main:x": false, "": false, "nope": false,
	} {
		if id, err := repo.Commit(t.Context(), ref); (err == nil) != want {
			t.Errorf("%q: %q, %v", ref, id, err)
		}
	}
}
