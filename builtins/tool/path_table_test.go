//go:build unix

package tool_test

import (
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	builtintool "github.com/pexctl/pex/builtins/tool"
	"github.com/pexctl/pex/engine/tool"
)

const canary = "canary-of-the-outside"

// trap creates a folder with every way out that a file system offers.
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
		"link-chain2": "in/link-chain3", "in/link-chain3": "../link-file", "link-zero": "/dev/zero", "link-fd": "/dev/fd/3", "link-self": "/proc/self/root",
		"link-name": "in/../../secret.txt", "link-slash": "../secret.txt/", "in/deep/link-dangling": "../../../made/new.txt", "link-socket": "socket", "link-pipe": "fifo",
		"link-git": ".git/config",
	} {
		if err := os.Symlink(target, filepath.Join(root, name)); err != nil {
			t.Fatal(err)
		}
	}
	if err := syscall.Mkfifo(filepath.Join(root, "fifo"), 0o600); err != nil {
		t.Fatal(err)
	}
	listen(t, root)
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

// listen creates a socket in a folder. It uses a relative path, because socket paths must
// be short.
func listen(t *testing.T, dir string) {
	t.Helper()
	back, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Chdir(dir); err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("unix", "socket")
	if err := os.Chdir(back); err != nil {
		t.Fatal(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
}

// waysOut returns paths that lead, or try to lead, out of a folder named root.
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
		// Links to links, to endless files, and to files of the process.
		"link-chain2", "in/link-chain3", "link-zero", "link-fd", "link-self/etc/passwd", "link-self", "link-name", "link-slash", "link-slash/", "in/deep/link-dangling", "link-socket", "link-pipe", "link-git",
		"socket", "socket/", "socket/x", "/proc/self/root", "/proc/self/root" + outside + "/secret.txt", "/proc/self/cwd/../secret.txt", "/dev/fd/3", "/dev/fd/0", "/dev/null", "/proc/self/mem", "/proc/1/environ",
		// Protected names, as case-insensitive file systems would accept them.
		"./.git/./config", ".git//config", ".giT/config", ".gi\u200ct/config", "\u200b.git/config", ".git./config", ".git /config", ".PEX/runs/1/journal.jsonl", ".pex\u200d/x", ".\u2060env", ".env.", ".ENV.local",
		// Characters that look like dots and slashes.
		"․․/secret.txt", "．．/secret.txt", "..∕secret.txt", "..／secret.txt", "..%252fsecret.txt", "..%c0%afsecret.txt", "....//secret.txt", ".../secret.txt", ". ./secret.txt", ".. /secret.txt", " ../secret.txt", "..;/secret.txt",
		`..\..\secret.txt`, `in\..\..\secret.txt`, `C:\secret.txt`, `\\?\C:\secret.txt`, `\\host\share`,
		// Names with line breaks.
		"in/a\nb", "in/\r", "in/\x1b[2J", "in/\u2028", "a\xff\xfe", "\xc0\xae\xc0\xae/secret.txt", strings.Repeat("é", 2100), strings.Repeat("../", 50) + "etc/passwd",
		root + strings.Repeat("/.", 100) + "/../secret.txt",
	}
}

// harmless reports whether a path only looks like a way out and is an ordinary name below
// the root.
func harmless(path string) bool {
	switch path {
	case `..\secret.txt`, "..%2fsecret.txt", "%2e%2e/secret.txt", "file:///etc/passwd", "~/secret.txt", "${HOME}",
		"․․/secret.txt", "．．/secret.txt", "..∕secret.txt", "..／secret.txt", "..%252fsecret.txt", "..%c0%afsecret.txt", "....//secret.txt", ".../secret.txt", ". ./secret.txt", ".. /secret.txt", " ../secret.txt", "..;/secret.txt",
		`..\..\secret.txt`, `in\..\..\secret.txt`, `C:\secret.txt`, `\\?\C:\secret.txt`, `\\host\share`, "in/\u2028":
		return true
	}
	// Invalid UTF-8 arrives as U+FFFD, because JSON has no other encoding.
	return strings.HasPrefix(path, "a\xff") || strings.HasPrefix(path, "\xc0\xae")
}

func outsideIsUntouched(t *testing.T, root string) {
	t.Helper()
	outside := filepath.Dir(root)
	for _, name := range []string{"secret.txt", "sub/secret.txt", "root/.env", "root/.git/config", "root/.pex/runs/1/journal.jsonl"} {
		if got, err := os.ReadFile(filepath.Join(outside, name)); err != nil || string(got) != canary {
			t.Errorf("%s has %q, %v", name, got, err)
		}
	}
	entries, err := os.ReadDir(outside)
	if err != nil || len(entries) != 3 {
		t.Errorf("outside: %v, %v", entries, err)
	}
	for _, link := range []string{"link-file", "link-dangling", "link-abs", "link-chain2", "link-slash", "in/deep/link-dangling", "link-git"} {
		if info, err := os.Lstat(filepath.Join(root, link)); err != nil || info.Mode()&os.ModeSymlink == 0 {
			t.Errorf("%s is no longer a link: %v, %v", link, info, err)
		}
	}
}

// folderTools returns the tools with a root folder.
func folderTools(t *testing.T) []struct {
	name string
	make func(s tool.Settings, root string) (tool.Tool, error)
} {
	t.Helper()
	type s = tool.Settings
	return []struct {
		name string
		make func(s tool.Settings, root string) (tool.Tool, error)
	}{
		{"read_file", func(s s, root string) (tool.Tool, error) {
			return try(builtintool.ReadFile, s, func(c *builtintool.ReadFileConfig) { c.Root = root })
		}},
		{"write_file", func(s s, root string) (tool.Tool, error) {
			return try(builtintool.WriteFile, s, func(c *builtintool.WriteFileConfig) { c.Root = root })
		}},
		{"list_files", func(s s, root string) (tool.Tool, error) {
			return try(builtintool.ListFiles, s, func(c *builtintool.ListFilesConfig) { c.Root = root })
		}},
		{"search_files", func(s s, root string) (tool.Tool, error) {
			return try(builtintool.SearchFiles, s, func(c *builtintool.SearchFilesConfig) { c.Root = root })
		}},
		{"json_query", func(s s, root string) (tool.Tool, error) {
			return try(builtintool.JSONQuery, s, func(c *builtintool.JSONQueryConfig) { c.Root = root })
		}},
		{"command", func(s s, root string) (tool.Tool, error) {
			return try(builtintool.Command, s, func(c *builtintool.CommandConfig) { c.Cwd, c.Argv = root, templates(t, "/bin/cat", "secret.txt") })
		}},
	}
}

// rootsOut returns root folders outside of the project. They are rejected when the tool
// is created or called.
func rootsOut(root string) []string {
	outside := filepath.Dir(root)
	return []string{
		"..", "../", "../sub", "in/../..", "in/deep/../../..", "/", "/etc", outside, outside + "/sub", root + "-evil", root + "/..", root + "/../sub",
		"link-dir", "link-dir/", "link-up", "link-chain", "link-root", "in/link-up2", "link-loop", "link-self", "link-dangling", "in/deep/link-dangling", "link-fd", "/proc/self/cwd/..", "/proc/self/root", "/dev/fd/3",
		"fifo", "socket", "link-pipe", "link-file", "in\x00", "\x00", strings.Repeat("a", 300), strings.Repeat("../", 60),
	}
}
