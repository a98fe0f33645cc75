//go:build unix

package process_test

import (
	"bufio"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/pexctl/pex/internal/process"
)

// started starts this test binary as a Child.
func started(t *testing.T, mode string, args ...string) *process.Child {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	c, err := process.Start(process.Command{
		Argv: append([]string{self}, args...), Dir: t.TempDir(), Env: []string{childMode + "=" + mode},
		Grace: 100 * time.Millisecond,
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

func TestChildTalksUntilItsInputIsClosed(t *testing.T) {
	c := started(t, "echo")
	lines := bufio.NewReader(c.Stdout)
	for _, want := range []string{"one\n", "two\n"} {
		if _, err := io.WriteString(c.Stdin, want); err != nil {
			t.Fatal(err)
		}
		if got, err := lines.ReadString('\n'); got != want || err != nil {
			t.Errorf("got %q, %v", got, err)
		}
	}
	if c.ExitText() != "" {
		t.Errorf("it still runs, but ExitText is %q", c.ExitText())
	}
	c.Close()
	if c.ExitText() != "exit status 0" {
		t.Errorf("ExitText %q", c.ExitText())
	}
	c.Close() // again
}

func TestChildThatEndsByItself(t *testing.T) {
	c := started(t, "fail")
	<-c.Ended()
	if c.ExitText() != "exit status 3" || strings.TrimSpace(c.Stderr()) != "oops" {
		t.Errorf("ExitText %q, stderr %q", c.ExitText(), c.Stderr())
	}
	if _, err := io.ReadAll(c.Stdout); err != nil {
		t.Errorf("reading on: %v", err)
	}
}

// Close also ends processes that ignore SIGTERM or left the group.
func TestCloseEndsAllProcesses(t *testing.T) {
	fifo := filepath.Join(t.TempDir(), "alive")
	if err := syscall.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	alive, err := os.OpenFile(fifo, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	c := started(t, "tree", fifo)
	up := bufio.NewReader(alive)
	for range 3 { // the child and its two children
		if _, err := up.ReadString('\n'); err != nil {
			t.Fatal(err)
		}
	}
	reader, err := os.OpenFile(fifo, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Close()
	alive.Close() // its writing end: now only the processes hold one
	began := time.Now()
	c.Close()
	if took := time.Since(began); took > patience { // they would live for a minute
		t.Errorf("closing took %s", took)
	}
	if err := reader.SetReadDeadline(time.Now().Add(patience)); err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadAll(reader); err != nil {
		t.Errorf("a process is still alive: %v", err)
	}
}

func TestStartOfMissingProgram(t *testing.T) {
	if _, err := process.Start(process.Command{Argv: []string{"no-such-program"}, Dir: t.TempDir()}); err == nil || !strings.Contains(err.Error(), "not found") {
		t.Errorf("error %v", err)
	}
}
