//go:build unix

package tool_test

import (
	"maps"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	builtintool "github.com/pexctl/pex/builtins/tool"
	"github.com/pexctl/pex/engine/tool"
)

func TestPathsCannotLeaveTheRoot(t *testing.T) {
	more := map[string]args{"write_file": {"content": "written"}, "list_files": {"pattern": "**"}, "search_files": {"query": "canary"}, "json_query": {"format": "csv"}}
	for _, tt := range folderTools(t) {
		if tt.name == "command" {
			continue // its paths are program paths; its folder is tried below
		}
		t.Run(tt.name, func(t *testing.T) {
			root := trap(t)
			tool, err := tt.make(tool.Settings{Dir: root}, "")
			if err != nil {
				t.Fatal(err)
			}
			for _, path := range waysOut(root) {
				a := args{"path": path}
				maps.Copy(a, more[tt.name])
				out, err := call(t, tool, a)
				switch {
				case err == nil && (tt.name != "write_file" || !harmless(path)):
					t.Errorf("%.80q gave %+v", path, out)
				case err != nil && strings.Contains(err.Error(), canary):
					t.Errorf("%.80q: the error shows the content: %v", path, err)
				}
			}
			outsideIsUntouched(t, root)
		})
	}
}

func TestRootsCannotLeaveTheProject(t *testing.T) {
	more := map[string]args{
		"read_file": {"path": "secret.txt"}, "write_file": {"path": "secret.txt", "content": "written"}, "list_files": {"pattern": "**"},
		"search_files": {"query": "canary"}, "json_query": {"path": "secret.txt", "format": "csv"}, "command": {},
	}
	for _, tt := range folderTools(t) {
		t.Run(tt.name, func(t *testing.T) {
			root := trap(t)
			for _, dir := range rootsOut(root) {
				tool, err := tt.make(tool.Settings{Dir: root}, dir)
				if err != nil {
					continue
				}
				switch out, err := call(t, tool, more[tt.name]); {
				case err == nil && (tt.name != "write_file" || !strings.HasPrefix(dir, "a")):
					t.Errorf("root %.80q gave %+v", dir, out)
				case err != nil && strings.Contains(err.Error(), canary):
					t.Errorf("root %.80q: the error shows the content: %v", dir, err)
				}
			}
			outsideIsUntouched(t, root)
		})
	}
}

func TestListingShowsNothingOutsideTheRoot(t *testing.T) {
	root := trap(t)
	s := tool.Settings{Dir: root}
	list := text(t, newTool[builtintool.ListFilesConfig](t, builtintool.ListFiles, s, nil), args{"pattern": "**"})
	if list != "in/\nin/deep/" {
		t.Errorf("listed %q", list)
	}
	search := text(t, newTool[builtintool.SearchFilesConfig](t, builtintool.SearchFiles, s, nil), args{"query": "canary-of"})
	if strings.Contains(search, canary) {
		t.Errorf("found %q", search)
	}
}

// Files that control what runs and what is allowed cannot be written, even if the author
// makes every name readable.
func TestProtectedFilesAreNotWritable(t *testing.T) {
	dir := plant(t, ".git/hooks/pre-commit", canary, ".pex/runs/1/journal.jsonl", canary, "pex.lock", canary, "sub/x", "")
	for link, target := range map[string]string{"git": ".git", "sub/up": "../git/hooks", "lock": "pex.lock"} {
		if err := os.Symlink(target, filepath.Join(dir, link)); err != nil {
			t.Fatal(err)
		}
	}
	s := tool.Settings{Dir: dir}
	write := newTool(t, builtintool.WriteFile, s, func(c *builtintool.WriteFileConfig) { c.Exclude = nil })
	for _, path := range []string{
		".git/hooks/pre-commit", ".git/config", ".GIT/x", ".gi\u200dt/x", "sub/.git/config", ".git", ".pex/runs/1/journal.jsonl", ".Pex/x", ".pex./x", "pex.lock", "PEX.LOCK", "pex.loc\u212a",
		"sub/pex.lock", "pex.lock/x", "./pex.lock", dir + "/pex.lock", ".git/../pex.lock",
		".github/workflows/x.yml", ".GitHub/x", "sub/.gitlab-ci.yml", ".circleci/config.yml", ".env", ".env.local", ".envrc", "Jenkinsfile", ".gitattributes", "sub/node_modules/a.js", "GITHUB~1/x",
		"git/hooks/pre-commit", "git/x", "sub/up/pre-commit", "lock",
	} {
		if out, err := call(t, write, args{"path": path, "content": "x"}); err == nil {
			t.Errorf("%q gave %+v", path, out)
		}
	}
	inside := newTool(t, builtintool.WriteFile, s, func(c *builtintool.WriteFileConfig) { c.Root = ".git/hooks" })
	fails(t, inside, args{"path": "pre-commit", "content": "x"}, "closed to tools")
	read := newTool(t, builtintool.ReadFile, s, func(c *builtintool.ReadFileConfig) { c.Exclude = nil })
	for _, path := range []string{".git/hooks/pre-commit", ".pex/runs/1/journal.jsonl", "pex.lock"} {
		if got := text(t, read, args{"path": path}); got != canary {
			t.Errorf("%s has %q", path, got)
		}
	}
	if got := text(t, write, args{"path": "github/x", "content": "x"}); !strings.HasPrefix(got, "created") {
		t.Error(got)
	}
}

// A hard link can be read like any file. Writing replaces it, so the other name keeps its
// content.
func TestHardLinksAreReadButNotWrittenThrough(t *testing.T) {
	outside := plant(t, "f", canary)
	root := t.TempDir()
	if err := os.Link(filepath.Join(outside, "f"), filepath.Join(root, "f")); err != nil {
		t.Fatal(err)
	}
	s := tool.Settings{Dir: root}
	if got := text(t, newTool[builtintool.ReadFileConfig](t, builtintool.ReadFile, s, nil), args{"path": "f"}); got != canary {
		t.Errorf("read %q", got)
	}
	text(t, newTool[builtintool.WriteFileConfig](t, builtintool.WriteFile, s, nil), args{"path": "f", "content": "new"})
	if got, err := os.ReadFile(filepath.Join(outside, "f")); err != nil || string(got) != canary {
		t.Errorf("outside has %q, %v", got, err)
	}
}

// A name cannot imitate a line of output.
func TestNamesStayOnTheirLine(t *testing.T) {
	root := plant(t, "a\n[9 of 9 shown]", "here", "b\x1b[2J", "here", "c\u202etxt.d", "here")
	s := tool.Settings{Dir: root}
	want := `"a\n[9 of 9 shown]" (4 bytes)` + "\n" + `"b\x1b[2J" (4 bytes)` + "\n" + `"c\u202etxt.d" (4 bytes)`
	if got := text(t, newTool[builtintool.ListFilesConfig](t, builtintool.ListFiles, s, nil), args{}); got != want {
		t.Errorf("listed %q", got)
	}
	want = `"a\n[9 of 9 shown]":1: here` + "\n" + `"b\x1b[2J":1: here` + "\n" + `"c\u202etxt.d":1: here` + "\n[3 matching lines in 3 files]"
	if got := text(t, newTool[builtintool.SearchFilesConfig](t, builtintool.SearchFiles, s, nil), args{"query": "here"}); got != want {
		t.Errorf("found %q", got)
	}
	fails(t, newTool[builtintool.ReadFileConfig](t, builtintool.ReadFile, s, nil), args{"path": "none"}, `"a\n[9 of 9 shown]", "b\x1b[2J", "c\u202etxt.d"`)
}

// TestSwappedFoldersLeadNowhere replaces a folder by a link that leads out, 10,000 times,
// while the tools use it.
func TestSwappedFoldersLeadNowhere(t *testing.T) {
	outside := plant(t, "f", canary)
	root := plant(t, "a/f", "inside")
	inner, out := filepath.Join(root, "a"), filepath.Join(root, "spare")
	if err := os.Symlink(outside, out); err != nil {
		t.Fatal(err)
	}
	s := tool.Settings{Dir: root}
	read := newTool[builtintool.ReadFileConfig](t, builtintool.ReadFile, s, nil)
	write := newTool[builtintool.WriteFileConfig](t, builtintool.WriteFile, s, nil)
	list := newTool[builtintool.ListFilesConfig](t, builtintool.ListFiles, s, nil)
	search := newTool[builtintool.SearchFilesConfig](t, builtintool.SearchFiles, s, nil)
	var swapped, used sync.WaitGroup
	var over atomic.Bool
	swapped.Go(func() {
		for range 10_000 {
			// A rename that fails is tried again in the next round.
			_ = os.Rename(inner, inner+".tmp")
			_ = os.Rename(out, inner)
			_ = os.Rename(inner, out)
			_ = os.Rename(inner+".tmp", inner)
		}
		over.Store(true)
	})
	use := func(made tool.Tool, a args) {
		used.Go(func() {
			for !over.Load() {
				// Whether a call finds the folder is random; what it returns is not.
				if o, err := call(t, made, a); err == nil && strings.Contains(o.Text, canary) {
					t.Errorf("%s returned content from outside: %s", made.Info().Name, o.Text)
					return
				}
			}
		})
	}
	use(read, args{"path": "a/f"})
	use(list, args{"path": "a"})
	use(search, args{"query": "canary", "path": "a", "max_results": 1})
	use(write, args{"path": "a/f", "content": "inside"})
	swapped.Wait()
	used.Wait()
	if got, err := os.ReadFile(filepath.Join(outside, "f")); err != nil || string(got) != canary {
		t.Errorf("outside has %q, %v", got, err)
	}
	if entries, err := os.ReadDir(outside); err != nil || len(entries) != 1 {
		t.Errorf("outside: %v, %v", entries, err)
	}
}
