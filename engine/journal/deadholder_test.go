//go:build linux

package journal_test

import (
	"bufio"
	"errors"
	"os"
	"os/exec"
	"syscall"
	"testing"

	"github.com/pexctl/pex/engine/journal"
)

// TestMain is also the process that dies in the test below: PEX_TEST_LOCK names the
// journal that it locks.
func TestMain(m *testing.M) {
	if path := os.Getenv("PEX_TEST_LOCK"); path != "" {
		if err := lockAndLeave(path); err != nil {
			panic(err)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// lockAndLeave locks a file and leaves the lock to a child, which ends when stdin is
// closed.
func lockAndLeave(path string) error {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX); err != nil {
		return err
	}
	c := exec.Command("cat")
	c.Stdin, c.Stdout, c.ExtraFiles = os.Stdin, os.Stdout, []*os.File{f}
	return c.Start()
}

// A process that was killed while it started a child leaves its locks to it for a moment.
// The run is then not held by the dead process, and its lock is worth waiting for.
func TestALockThatADeadProcessLeftIsNotHeldByIt(t *testing.T) {
	h := home(t, t.TempDir(), journal.Exit)
	closedRun(t, h, "r")
	c := exec.Command(os.Args[0])
	c.Env = append(os.Environ(), "PEX_TEST_LOCK="+h.File("r"))
	in, err := c.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	process, err := c.Process.Wait()
	if err != nil || !process.Success() {
		t.Fatal(process, err)
	}
	_, err = h.Open("r")
	if held, ok := errors.AsType[*journal.InUseError](err); !ok || held.PID != 0 {
		t.Errorf("%v, by %d", err, c.Process.Pid)
	}
	if err := in.Close(); err != nil {
		t.Fatal(err)
	}
	_, _ = bufio.NewReader(out).ReadByte() // the child has ended
	f, err := h.Open("r")
	if err != nil {
		t.Fatal(err)
	}
	ended(t, f)
}
