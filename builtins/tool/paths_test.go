//go:build unix

package tool_test

import (
	"maps"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/pexctl/pex/builtins/tool"
	"github.com/pexctl/pex/engine"
)

const canary = "canary-of-the-outside"

// trap is a folder with every way out that a file system has.
func trap(t *testing.T) (root string) {
	t.Helper()
	outside := plant(t, "secret.txt", canary, "sub/secret.txt", canary)
	root = filepath.Join(outside, "root")
	if err := os.MkdirAll(filepath.Join(root, "in/deep"), 0o755); err != nil {
		t.Fatal(err)
	}
	for name, target := range map[string]string{
		"link-file": "../secret.txt", "link-dir": "../sub", "link-abs": filepath.Join(outside, "secret.txt"), "link-root": "/",
		"link-up": "..", "link-chain": "link-up", "in/link-up2": "../..", "link-loop": "link-loop", "link-proc": "/proc/self/environ", "link-dangling": "../new.txt",
	} {
		if err := os.Symlink(target, filepath.Join(root, name)); err != nil {
			t.Fatal(err)
		}
	}
	if err := syscall.Mkfifo(filepath.Join(root, "fifo"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{".git/config", ".pex/runs/1/journal.jsonl", ".env", ".env.local", "in/.ENV", "in/.Git/config"} {
		full := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(full, []byte(canary), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

// waysOut are paths that lead, or try to lead, out of a folder named root.
func waysOut(root string) []string {
	outside := filepath.Dir(root)
	return []string{
		"../secret.txt", "../root/../secret.txt", "in/../../secret.txt", "./../secret.txt", "in/deep/../../../secret.txt", "..", "../", ".././secret.txt",
		"a/../b", "..\x00/secret.txt", "secret.txt\x00.md", "\x00", "/etc/passwd", "//etc/passwd", "/../../etc/passwd", "/", "/proc/self/environ", "/dev/zero", "/dev/stdin",
		outside + "/secret.txt", root + "/../secret.txt", root + "-evil/x", root + "/in/../../secret.txt", root + "/link-file", outside,
		"link-file", "link-file/", "link-dir/secret.txt", "link-dir", "link-dir/", "link-dir/../secret.txt", "link-abs", "link-root/etc/passwd", "link-up/secret.txt", "link-up/root/link-file",
		"link-chain/secret.txt", "in/link-up2/secret.txt", "link-loop", "link-proc", "link-dangling", "link-dangling/", "fifo", "fifo/", "in/../fifo",
		".git/config", ".GIT/config", ".git", "in/.Git/config", ".pex/runs/1/journal.jsonl", ".env", ".env.local", "in/.ENV", "./.env", ".//.env",
		root + "/.env", "in//../.env", `..\secret.txt`, "..%2fsecret.txt", "%2e%2e/secret.txt", "file:///etc/passwd", "~/secret.txt", "${HOME}", strings.Repeat("a/", 3000), strings.Repeat("a", 300),
	}
}

func TestNoPathLeadsOut(t *testing.T) {
	tests := []struct {
		name string
		make func(engine.ToolSettings) engine.Tool
		more args
	}{
		{"read_file", func(s engine.ToolSettings) engine.Tool { return made[tool.ReadFileConfig](t, tool.ReadFile, s, nil) }, nil},
		{"write_file", func(s engine.ToolSettings) engine.Tool { return made[tool.WriteFileConfig](t, tool.WriteFile, s, nil) }, args{"content": "written"}},
		{"list_files", func(s engine.ToolSettings) engine.Tool { return made[tool.ListFilesConfig](t, tool.ListFiles, s, nil) }, args{"pattern": "**"}},
		{"search_files", func(s engine.ToolSettings) engine.Tool {
			return made[tool.SearchFilesConfig](t, tool.SearchFiles, s, nil)
		}, args{"query": "canary"}},
		{"json_query", func(s engine.ToolSettings) engine.Tool { return made[tool.JSONQueryConfig](t, tool.JSONQuery, s, nil) }, args{"format": "csv"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			root := trap(t)
			tool := tt.make(engine.ToolSettings{Dir: root})
			for _, path := range waysOut(root) {
				a := args{"path": path}
				maps.Copy(a, tt.more)
				out, err := call(t, tool, a)
				switch {
				case err == nil && (tt.name != "write_file" || !harmless(path)):
					t.Errorf("%.80q gave %+v", path, out)
				case err != nil && strings.Contains(err.Error(), canary):
					t.Errorf("%.80q: the error tells the content: %v", path, err)
				}
			}
			outsideIsUntouched(t, root)
		})
	}
}

// harmless are paths that look like a way out and are plain names: a file of
// such a name may be written below the root.
func harmless(path string) bool {
	switch path {
	case `..\secret.txt`, "..%2fsecret.txt", "%2e%2e/secret.txt", "file:///etc/passwd", "~/secret.txt", "${HOME}":
		return true
	}
	return false
}

func outsideIsUntouched(t *testing.T, root string) {
	t.Helper()
	outside := filepath.Dir(root)
	for _, name := range []string{"secret.txt", "sub/secret.txt", "root/.env", "root/.git/config"} {
		if got, err := os.ReadFile(filepath.Join(outside, name)); err != nil || string(got) != canary {
			t.Errorf("%s has %q, %v", name, got, err)
		}
	}
	entries, err := os.ReadDir(outside)
	if err != nil || len(entries) != 3 {
		t.Errorf("outside: %v, %v", entries, err)
	}
	for _, link := range []string{"link-file", "link-dangling", "link-abs"} {
		if info, err := os.Lstat(filepath.Join(root, link)); err != nil || info.Mode()&os.ModeSymlink == 0 {
			t.Errorf("%s is no link any more: %v, %v", link, info, err)
		}
	}
}

func TestWholeTreeShowsNothingFromOutside(t *testing.T) {
	root := trap(t)
	s := engine.ToolSettings{Dir: root}
	list := text(t, made[tool.ListFilesConfig](t, tool.ListFiles, s, nil), args{"pattern": "**"})
	if list != "in/\nin/deep/" {
		t.Errorf("listed %q", list)
	}
	search := text(t, made[tool.SearchFilesConfig](t, tool.SearchFiles, s, nil), args{"query": "canary-of"})
	if strings.Contains(search, canary) {
		t.Errorf("found %q", search)
	}
}

// TestSwappedFoldersLeadNowhere exchanges a folder for a link that leads out
// while the tools use it.
func TestSwappedFoldersLeadNowhere(t *testing.T) {
	outside := plant(t, "f", canary)
	root := plant(t, "a/f", "inside")
	inner, out := filepath.Join(root, "a"), filepath.Join(root, "spare")
	if err := os.Symlink(outside, out); err != nil {
		t.Fatal(err)
	}
	s := engine.ToolSettings{Dir: root}
	read := made[tool.ReadFileConfig](t, tool.ReadFile, s, nil)
	write := made[tool.WriteFileConfig](t, tool.WriteFile, s, nil)
	var swap sync.WaitGroup
	stop := make(chan struct{})
	swap.Go(func() {
		for {
			select {
			case <-stop:
				return
			default:
			}
			// A rename that fails is tried again in the next round.
			_ = os.Rename(inner, inner+".tmp")
			_ = os.Rename(out, inner)
			_ = os.Rename(inner, out)
			_ = os.Rename(inner+".tmp", inner)
		}
	})
	for range 500 {
		if o, err := call(t, read, args{"path": "a/f"}); err == nil && strings.Contains(o.Text, canary) {
			t.Fatal("read from outside")
		}
		// Whether a write finds the folder is chance; where it lands is not.
		_, _ = call(t, write, args{"path": "a/f", "content": "inside"})
	}
	close(stop)
	swap.Wait()
	if got, err := os.ReadFile(filepath.Join(outside, "f")); err != nil || string(got) != canary {
		t.Errorf("outside has %q, %v", got, err)
	}
}
