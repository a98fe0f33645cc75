package doctest

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// House is where pages are walked.
type House struct {
	// Root is the folder of the repository: `with` copies from there.
	Root string
	// Env goes over the environment of every command; PATH in it, if any, has
	// to lead to pexctl.
	Env []string
	// Screen is what stands on a terminal after it was sent something, with long
	// lines left whole; nil = blocks of terminals are not run.
	Screen func(t *testing.T, sent []byte) string
}

// You is the folder that pages show where they show the reader's own.
const you = "/home/you"

// shell runs commands one after another, each where the one before it went.
type shell struct {
	t    *testing.T
	h    House
	root string // the scratch folder
	dir  string // where the shell is
}

func newShell(t *testing.T, h House) *shell {
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return &shell{t, h, root, root}
}

// path is a file of the page: names are as seen from where the reader is.
func (s *shell) path(name string) string { return filepath.Join(s.dir, filepath.FromSlash(name)) }

// run gives what a command writes, as a reader sees it, and its exit code.
func (s *shell) run(command string) (string, int) {
	var out bytes.Buffer
	code := s.exec(&out, strings.NewReader(""), nil, command)
	return s.shown(out.String()), code
}

// exec runs a command in the shell's folder, and follows where it goes.
func (s *shell) exec(out io.Writer, in io.Reader, env []string, command string) int {
	s.t.Helper()
	where, err := os.CreateTemp(s.t.TempDir(), "pwd")
	if err != nil {
		s.t.Fatal(err)
	}
	defer where.Close()
	c := exec.Command("sh", "-c", command+"\ncode=$?; pwd >&3; exit $code")
	c.Dir, c.Stdin, c.Stdout, c.Stderr = s.dir, in, out, out
	c.ExtraFiles = []*os.File{where}
	c.Env = append(os.Environ(), "HOME="+s.root, "CI=", "GITHUB_ACTIONS=", "TERM=dumb", "LC_ALL=C.UTF-8",
		"GIT_CONFIG_GLOBAL=/dev/null", "GIT_AUTHOR_NAME=you", "GIT_AUTHOR_EMAIL=you@example.org", "GIT_COMMITTER_NAME=you", "GIT_COMMITTER_EMAIL=you@example.org")
	c.Env = append(append(c.Env, s.h.Env...), env...)
	err = c.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		s.t.Fatalf("sh: %v", err)
	}
	if dir, err := os.ReadFile(where.Name()); err == nil && len(dir) > 0 {
		s.dir = strings.TrimSpace(string(dir))
	}
	return c.ProcessState.ExitCode()
}

// atTerminal runs a command at a terminal, where somebody types lines. false =
// there is none here.
func (s *shell) atTerminal(columns, typed, command string) (string, bool) {
	s.t.Helper()
	tool, err := exec.LookPath("script")
	if s.h.Screen == nil || err != nil || runtime.GOOS != "linux" {
		return "", false
	}
	var lines []string
	if typed != "" {
		lines = strings.Split(typed, " | ")
	}
	keys, hand, err := os.Pipe()
	if err != nil {
		s.t.Fatal(err)
	}
	out := &typist{lines: lines, hand: hand}
	defer hand.Close()
	s.exec(out, keys, []string{"TERM=xterm", "SHELL=/bin/sh"}, tool+" -qec "+quoted("stty cols "+columns+" rows 200; "+command)+" /dev/null")
	keys.Close()
	return s.shown(s.h.Screen(s.t, out.seen.Bytes())), true
}

// typist reads a terminal, and types the next line when it is asked: when what
// stands there ends in "> ".
type typist struct {
	seen  bytes.Buffer
	lines []string
	hand  io.Writer
}

func (y *typist) Write(b []byte) (int, error) {
	y.seen.Write(b)
	asked := strings.HasSuffix(strings.TrimSuffix(y.seen.String(), "\x1b[0m"), "> ")
	if asked && len(y.lines) > 0 {
		fmt.Fprintln(y.hand, strings.TrimPrefix(y.lines[0], "Enter"))
		y.lines = y.lines[1:]
	}
	return len(b), nil
}

// quoted is a text as one word of the shell.
func quoted(text string) string { return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'" }

// shown is an output with the scratch folder called as readers call theirs.
func (s *shell) shown(out string) string { return strings.ReplaceAll(out, s.root, you) }
