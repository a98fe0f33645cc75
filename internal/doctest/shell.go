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

// Runner executes pages.
type Runner struct {
	// Root is the folder of the repository, from which `with` copies files.
	Root string
	// Env overrides the environment of every command. PATH must contain pexctl.
	Env []string
	// Screen returns the visible text of a terminal that received sent, without wrapping lines. Nil = terminal blocks
	// are not run.
	Screen func(t *testing.T, sent []byte) string
}

// shownHome is the home folder in the outputs of pages.
const shownHome = "/home/you"

// shell runs commands in sequence. Each starts in the folder where the previous one ended.
type shell struct {
	t      *testing.T
	runner Runner
	root   string  // the scratch folder
	dir    string  // current folder
	server *server // the one that the page has started; nil = none

	receiver int // port of receivers of webhooks; 0 = none yet
}

func newShell(t *testing.T, h Runner) *shell {
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return &shell{t: t, runner: h, root: root, dir: root}
}

// path returns the path of a file of the page, relative to the current folder.
func (s *shell) path(name string) string { return filepath.Join(s.dir, filepath.FromSlash(name)) }

// run returns the output of a command, as shown to readers, and its exit code.
func (s *shell) run(command string) (string, int) {
	var out bytes.Buffer
	code := s.exec(&out, strings.NewReader(""), nil, command)
	return s.forReaders(out.String()), code
}

// exec runs a command in the current folder, and updates that.
func (s *shell) exec(out io.Writer, in io.Reader, env []string, command string) int {
	s.t.Helper()
	where, err := os.CreateTemp(s.t.TempDir(), "pwd")
	if err != nil {
		s.t.Fatal(err)
	}
	defer where.Close()
	c := s.process(command+"\ncode=$?; pwd >&3; exit $code", env)
	c.Stdin, c.Stdout, c.Stderr = in, out, out
	c.ExtraFiles = []*os.File{where}
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

// process returns a process that executes a command in the current folder.
func (s *shell) process(command string, env []string) *exec.Cmd {
	if s.server != nil {
		command = strings.ReplaceAll(command, shownAddress, s.server.address)
	}
	c := exec.Command("sh", "-c", s.local(command))
	c.Dir = s.dir
	c.Env = append(os.Environ(), "HOME="+s.root, "CI=", "GITHUB_ACTIONS=", "TERM=dumb", "LC_ALL=C.UTF-8",
		"GIT_CONFIG_GLOBAL=/dev/null", "GIT_AUTHOR_NAME=you", "GIT_AUTHOR_EMAIL=you@example.org", "GIT_COMMITTER_NAME=you", "GIT_COMMITTER_EMAIL=you@example.org")
	c.Env = append(append(c.Env, s.runner.Env...), env...)
	return c
}

// atTerminal runs a command at a terminal and types lines. ok is false if there is no terminal here.
func (s *shell) atTerminal(columns, typed, command string) (string, bool) {
	s.t.Helper()
	tool, err := exec.LookPath("script")
	if s.runner.Screen == nil || err != nil || runtime.GOOS != "linux" {
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
	out := &lineTyper{lines: lines, keyboard: hand}
	defer hand.Close()
	s.exec(out, keys, []string{"TERM=xterm", "SHELL=/bin/sh"}, tool+" -qec "+shellQuote("stty cols "+columns+" rows 200; "+command)+" /dev/null")
	keys.Close()
	return s.forReaders(s.runner.Screen(s.t, out.output.Bytes())), true
}

// lineTyper reads a terminal, and types the next line when the output ends with the prompt "> ".
type lineTyper struct {
	output   bytes.Buffer
	lines    []string
	keyboard io.Writer
}

func (y *lineTyper) Write(b []byte) (int, error) {
	y.output.Write(b)
	asked := strings.HasSuffix(strings.TrimSuffix(y.output.String(), "\x1b[0m"), "> ")
	if asked && len(y.lines) > 0 {
		fmt.Fprintln(y.keyboard, strings.TrimPrefix(y.lines[0], "Enter"))
		y.lines = y.lines[1:]
	}
	return len(b), nil
}

// shellQuote quotes a text for the shell.
func shellQuote(text string) string { return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'" }

// forReaders replaces the scratch folder in an output by the reader's home, and the address of the server by that of
// the page.
func (s *shell) forReaders(out string) string {
	if s.server != nil {
		out = strings.ReplaceAll(out, s.server.address, shownAddress)
	}
	if s.receiver != 0 {
		out = strings.ReplaceAll(out, fmt.Sprint("127.0.0.1:", s.receiver), "127.0.0.1:9000")
	}
	return strings.ReplaceAll(out, s.root, shownHome)
}
