//go:build unix

package process_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pexctl/pex/internal/process"
)

const (
	childMode = "PEX_TEST_CHILD"
	upPipe    = "PEX_TEST_UP" // set for a child that reports on descriptor 3 that it is up
)

func TestMain(m *testing.M) {
	if mode := os.Getenv(childMode); mode != "" {
		// Not os.Exit, which would also run hooks of the race detector and the coverage tool.
		syscall.Exit(child(mode, os.Args[1:]))
	}
	os.Exit(m.Run())
}

// child is the main function of the test binary when a test runs it as a program.
func child(mode string, args []string) (code int) {
	switch mode {
	case "secrets":
		return secrets(args)
	case "env":
		fmt.Println(strings.Join(os.Environ(), "\n"))
	case "fds":
		for fd := range 64 {
			var st syscall.Stat_t
			if syscall.Fstat(fd, &st) == nil && !poller(fd) {
				fmt.Println(fd)
			}
		}
	case "echo":
		_, _ = io.Copy(os.Stdout, os.Stdin)
	case "flood":
		line := strings.Repeat("x", 1023) + "\n"
		fmt.Print("first\n")
		for range 64 << 10 {
			os.Stdout.WriteString(line)
			os.Stderr.WriteString(line)
		}
		fmt.Print("last\n")
	case "fail":
		fmt.Fprintln(os.Stderr, "oops")
		return 3
	case "deaf": // does not read its input
	case "leave": // leaves a child behind that keeps the output open
		start("stay", nil, args[0])
	case "escape": // leaves a child behind in a session of its own
		start("stay", &syscall.SysProcAttr{Setsid: true}, args[0])
	case "tree":
		start("stay", nil, args[0])
		start("stay", &syscall.SysProcAttr{Setsid: true}, args[0])
		stay(args[0])
	case "stay":
		stay(args[0])
	}
	return 0
}

// poller reports whether a descriptor belongs to the Go runtime of the child.
func poller(fd int) bool {
	name, _ := os.Readlink(fmt.Sprintf("/proc/self/fd/%d", fd))
	return strings.HasPrefix(name, "anon_inode:") || strings.HasPrefix(name, "/sys/") || strings.HasPrefix(name, "/proc/")
}

// start starts a child of the child and waits until it is up.
func start(mode string, attr *syscall.SysProcAttr, args ...string) {
	self, _ := os.Executable()
	up, theirs, err := os.Pipe()
	if err != nil {
		panic(err)
	}
	cmd := exec.Command(self, args...)
	cmd.Env = append(os.Environ(), childMode+"="+mode, upPipe+"=3")
	cmd.Stdout, cmd.Stderr, cmd.SysProcAttr = os.Stdout, os.Stderr, attr
	cmd.ExtraFiles = []*os.File{theirs}
	if err := cmd.Start(); err != nil {
		panic(err)
	}
	theirs.Close()
	_, _ = up.Read(make([]byte, 1)) // it wrote, or it has exited
	up.Close()
}

// stay keeps a named pipe open, which shows that it is alive, and ignores SIGTERM.
func stay(fifo string) {
	signal.Ignore(syscall.SIGTERM)
	f, err := os.OpenFile(fifo, os.O_WRONLY, 0)
	if err != nil {
		panic(err)
	}
	fmt.Fprintln(f, "up")
	if os.Getenv(upPipe) != "" {
		up := os.NewFile(3, "up")
		fmt.Fprintln(up, "up")
		up.Close()
	}
	time.Sleep(time.Minute) // ended by the test, or by this if the test has died
}

func command(t *testing.T, mode string, args ...string) process.Command {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return process.Command{
		Argv: append([]string{self}, args...), Dir: t.TempDir(), Env: []string{childMode + "=" + mode}, Grace: 20 * time.Millisecond,
	}
}

const patience = 20 * time.Second // for what should end at once

func run(t *testing.T, c process.Command) process.Result {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	res, err := process.Run(ctx, c)
	if err != nil {
		t.Fatal(err)
	}
	return res
}

func TestChildSeesOnlyItsOwnEnvironment(t *testing.T) {
	t.Setenv("PEX_CANARY", "secret")
	c := command(t, "env")
	c.Env = append(c.Env, "A=1")
	lines := strings.Fields(run(t, c).Stdout)
	lines = slices.DeleteFunc(lines, func(l string) bool { return strings.HasPrefix(l, process.Marker+"=") })
	if diff := cmp.Diff([]string{childMode + "=env", "A=1"}, lines); diff != "" {
		t.Error(diff)
	}
}

func TestChildInheritsNoFiles(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("reads /proc")
	}
	f, err := os.Open(os.Args[0])
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	leak, err := syscall.Dup(int(f.Fd())) // as if our parent had left it open
	if err != nil {
		t.Fatal(err)
	}
	defer syscall.Close(leak)
	if got := strings.Fields(run(t, command(t, "fds")).Stdout); !cmp.Equal(got, []string{"0", "1", "2"}) {
		t.Errorf("open files: %v, want 0 1 2", got)
	}
}

func TestInput(t *testing.T) {
	long := strings.Repeat("long text ", 100_000)
	for name, text := range map[string]*string{"none is empty": nil, "some is read": new(string), "long is read": &long} {
		t.Run(name, func(t *testing.T) {
			c := command(t, "echo")
			c.Stdin, c.Keep = text, 4<<20
			want := ""
			if text != nil {
				want = *text
			}
			if got := run(t, c).Stdout; got != want {
				t.Errorf("%d bytes came back of %d", len(got), len(want))
			}
		})
	}
	t.Run("unread is dropped", func(t *testing.T) {
		c := command(t, "deaf")
		c.Stdin = &long
		run(t, c)
	})
}

func TestLargeOutputIsTruncated(t *testing.T) {
	c := command(t, "flood")
	c.Keep = 4 << 10
	res := run(t, c)
	if len(res.Stdout) > 5<<10 || len(res.Stderr) > 5<<10 {
		t.Errorf("kept %d and %d bytes of 4096", len(res.Stdout), len(res.Stderr))
	}
	if !strings.HasPrefix(res.Stdout, "first\n") || !strings.HasSuffix(res.Stdout, "last\n") {
		t.Errorf("head or tail is missing: %.20q ... %q", res.Stdout, res.Stdout[len(res.Stdout)-20:])
	}
	if !strings.Contains(res.Stdout, "bytes left out") {
		t.Error("the note about missing bytes is absent")
	}
}

func TestExitStatusIsNotError(t *testing.T) {
	res := run(t, command(t, "fail"))
	if diff := cmp.Diff(process.Result{Stderr: "oops\n", Code: 3}, res); diff != "" {
		t.Error(diff)
	}
}

// fifo creates a named pipe whose reader gets EOF when all processes that have it open are gone.
func fifo(t *testing.T) (name string, lives *bufio.Reader) {
	t.Helper()
	name = filepath.Join(t.TempDir(), "life")
	if err := syscall.Mkfifo(name, 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := os.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return name, bufio.NewReader(f)
}

// late is a context that a test ends, like a deadline.
type late struct {
	context.Context
	done chan struct{}
}

func (l late) Done() <-chan struct{} { return l.done }

func (l late) Err() error {
	select {
	case <-l.done:
		return context.DeadlineExceeded
	default:
		return nil
	}
}

// whenUp ends a context once n processes have the pipe open, or after a timeout. The channel then reports whether
// they were up.
func whenUp(f *bufio.Reader, n int, end func()) <-chan bool {
	up := make(chan bool, 1)
	go func() {
		defer end()
		for began := time.Now(); n > 0 && time.Since(began) < patience; {
			if _, err := f.ReadString('\n'); err == nil {
				n--
			} else {
				runtime.Gosched() // no process has it open yet
			}
		}
		up <- n == 0
	}()
	return up
}

func untilGone(t *testing.T, f *bufio.Reader) {
	t.Helper()
	gone := make(chan error, 1)
	go func() {
		_, err := io.Copy(io.Discard, f)
		gone <- err
	}()
	select {
	case err := <-gone:
		if err != nil {
			t.Fatal(err)
		}
	case <-time.After(patience):
		t.Fatal("a process of the tree is still alive")
	}
}

func TestCancelEndsProcessTree(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("a child in a session of its own is found on Linux only")
	}
	name, lives := fifo(t)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	up := whenUp(lives, 3, cancel)
	_, err := process.Run(ctx, command(t, "tree", name))
	if !<-up {
		t.Fatal("the tree did not come up")
	}
	if !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want the context's", err)
	}
	untilGone(t, lives)
}

func TestDeadlineEndsChildThatIgnoresSIGTERM(t *testing.T) {
	name, lives := fifo(t)
	ctx := late{t.Context(), make(chan struct{})}
	up := whenUp(lives, 1, func() { close(ctx.done) })
	_, err := process.Run(ctx, command(t, "stay", name))
	if !<-up {
		t.Fatal("the child did not come up")
	}
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("error %v, want the deadline", err)
	}
	untilGone(t, lives)
}

func TestExitEndsRemainingProcesses(t *testing.T) {
	for _, mode := range []string{"leave", "escape"} {
		t.Run(mode, func(t *testing.T) {
			if mode == "escape" && runtime.GOOS != "linux" {
				t.Skip("a child in a session of its own is found on Linux only")
			}
			name, lives := fifo(t)
			if res := run(t, command(t, mode, name)); res.Code != 0 || res.Signal != "" {
				t.Errorf("ended with %+v", res)
			}
			untilGone(t, lives)
		})
	}
}

func TestInvalidPrograms(t *testing.T) {
	dir := t.TempDir()
	plain := filepath.Join(dir, "plain")
	if err := os.WriteFile(plain, []byte("text"), 0o600); err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		name string
		argv []string
		want string
	}{
		{"none", nil, "argv is empty"},
		{"empty", []string{""}, "argv is empty"},
		{"unknown", []string{"no-such-program"}, "program no-such-program not found in PATH"},
		{"missing file", []string{"./missing"}, "cannot run program ./missing: no such file"},
		{"folder", []string{dir}, "is a folder"},
		{"not executable", []string{plain}, "its execute bit is not set"},
		{"NUL in an argument", []string{os.Args[0], "a\x00b"}, "argument 1 has a NUL byte"},
		{"argument too long", []string{os.Args[0], strings.Repeat("x", 4<<20)}, "pass long text by stdin"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := process.Run(t.Context(), process.Command{Argv: tt.argv, Path: "/usr/bin:/bin", Dir: dir})
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error %v, want %q", err, tt.want)
			}
		})
	}
}

func TestRelativePathEntriesAreIgnored(t *testing.T) {
	c := command(t, "env")
	c.Argv = []string{filepath.Base(os.Args[0])}
	c.Path = "." + string(filepath.ListSeparator) + string(filepath.ListSeparator)
	c.Dir = filepath.Dir(os.Args[0])
	if _, err := process.Run(t.Context(), c); err == nil || !strings.Contains(err.Error(), "not found in PATH") {
		t.Errorf("error %v, want not found", err)
	}
}
