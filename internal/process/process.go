package process

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"time"
)

// Marker is the variable that identifies a child and its descendants. Its value is unique to each Run.
const Marker = "PEX_CALL"

const (
	defaultGrace = 2 * time.Second
	drainTime    = 200 * time.Millisecond // for output still in a pipe when the child has exited
)

// Command is a program to run.
type Command struct {
	Argv  []string // program and arguments; a program without a slash is looked up in Path
	Path  string   // folders to look in, as in PATH
	Dir   string   // absolute; also where a relative program starts
	Env   []string // the whole environment, "name=value"
	Stdin *string  // nil = nothing to read
	Keep  int      // bytes kept of each stream: half from the start, half from the end; 0 = 256 KiB
	// Guard is called before the child is started, with the mark of the child and its descendants (see Sweep). The
	// returned function is called with the leader of the child's group. If this process is killed, both must be
	// ended, unless release was called. May be nil.
	Guard func(mark string) (watch func(leader int) (release func()))
	// Grace is the time between SIGTERM and SIGKILL; 0 = 2 s.
	Grace time.Duration
}

// Result is the result of a child.
type Result struct {
	Stdout, Stderr string // head and tail; a note in between says how much is missing
	Code           int    // exit status; -1 if a signal ended the child
	Signal         string // the signal that ended the child, or ""
}

// NotStartedError is returned by Run if no child was started.
type NotStartedError struct{ Err error }

// Error implements error.
func (e *NotStartedError) Error() string { return e.Err.Error() }

// Unwrap returns the reason.
func (e *NotStartedError) Unwrap() error { return e.Err }

// Run starts a child and waits for its exit. A nonzero exit status is not an error. If the context ended the child,
// the error wraps the context's error, and the Result has the output until then.
func Run(ctx context.Context, c Command) (Result, error) {
	if err := ctx.Err(); err != nil {
		return Result{}, &NotStartedError{err}
	}
	r, err := c.prepare()
	if err != nil {
		return Result{}, &NotStartedError{err}
	}
	// The kernel kills the child when the thread that started it exits, so this thread is locked until the child has
	// exited.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	return r.run(ctx)
}

// prepare finds the program and creates the mark.
func (c Command) prepare() (*run, error) {
	program, err := c.program()
	if err != nil {
		return nil, err
	}
	closeFilesOnExec()
	return &run{Command: c, file: program, mark: Marker + "=" + rand.Text()}, nil
}

// program returns the file to run.
func (c Command) program() (string, error) {
	if len(c.Argv) == 0 || c.Argv[0] == "" {
		return "", errors.New("argv is empty")
	}
	for i, arg := range c.Argv {
		if strings.ContainsRune(arg, 0) {
			return "", fmt.Errorf("argument %d has a NUL byte, which is not allowed", i)
		}
	}
	name := c.Argv[0]
	if strings.ContainsAny(name, "/"+string(filepath.Separator)) {
		full := name
		if !filepath.IsAbs(name) {
			full = filepath.Join(c.Dir, name)
		}
		if err := runnable(full); err != nil {
			return "", fmt.Errorf("cannot run program %s: %w", name, err)
		}
		return full, nil
	}
	for _, dir := range filepath.SplitList(c.Path) {
		if full := filepath.Join(dir, name); filepath.IsAbs(dir) && runnable(full) == nil {
			return full, nil
		}
	}
	return "", fmt.Errorf("program %s not found in PATH (%s); install it, or write its full path", name, c.Path)
}

// run is a running child.
type run struct {
	Command
	file    string // the program
	mark    string
	stopped atomic.Bool // the context ended the child
}

func (r *run) command() *exec.Cmd {
	return &exec.Cmd{
		Path: r.file, Args: r.Argv, Dir: r.Dir, Env: append(slices.Clip(r.Env), r.mark),
		SysProcAttr: ownGroup(),
	}
}

// guard calls Guard, if any.
func (r *run) guard() (watch func(leader int) (release func())) {
	if r.Guard == nil {
		return func(int) func() { return func() {} }
	}
	return r.Guard(r.mark)
}

func (r *run) run(ctx context.Context) (Result, error) {
	stdout, stderr := newStream(r.Keep), newStream(r.Keep)
	cmd := r.command()
	if err := errors.Join(stdout.attach(&cmd.Stdout), stderr.attach(&cmd.Stderr)); err != nil {
		stdout.close()
		stderr.close()
		return Result{}, &NotStartedError{fmt.Errorf("pipes of %s: %w", r.Argv[0], err)}
	}
	defer stdout.close()
	defer stderr.close()
	watch := r.guard()
	stop, err := r.start(cmd)
	stdout.started()
	stderr.started()
	if err != nil {
		return Result{}, &NotStartedError{startError(r.Argv[0], err)}
	}
	defer stop()
	defer watch(cmd.Process.Pid)()
	r.wait(ctx, cmd, stdout, stderr)
	res := Result{Stdout: stdout.text(), Stderr: stderr.text(), Code: cmd.ProcessState.ExitCode(), Signal: signalOf(cmd.ProcessState)}
	if r.stopped.Load() {
		return res, ctx.Err()
	}
	return res, nil
}

// start starts the child and writes its input. stop ends the writing.
func (r *run) start(cmd *exec.Cmd) (stop func(), err error) {
	if r.Stdin == nil {
		return func() {}, cmd.Start()
	}
	from, to, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer from.Close()
	cmd.Stdin = from
	if err := cmd.Start(); err != nil {
		to.Close()
		return nil, err
	}
	go func() {
		// Errors are ignored, since a child need not read its input: the write ends when the other end of the pipe is
		// closed, or by stop.
		_, _ = io.WriteString(to, *r.Stdin)
		to.Close()
	}()
	return func() { to.Close() }, nil
}

// wait waits for the child and its output, and ends its group.
func (r *run) wait(ctx context.Context, cmd *exec.Cmd, streams ...*stream) {
	ended, watched := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(watched)
		r.watch(ctx, cmd.Process.Pid, ended)
	}()
	// The state tells how the child exited; the error of Wait does not.
	_ = cmd.Wait()
	close(ended)
	<-watched
	open := r.finish(cmd.Process.Pid, streams...)
	if open || r.stopped.Load() {
		Sweep(r.mark)
	}
}

// finish reads the remaining output of an exited child and kills its group. open reports that some process still has
// an output open.
func (r *run) finish(leader int, streams ...*stream) (open bool) {
	for _, s := range streams {
		s.drain(drainTime)
	}
	killGroup(leader)
	for _, s := range streams {
		open = !s.drain(drainTime) || open
	}
	return open
}

// watch ends the group if the context ends first.
func (r *run) watch(ctx context.Context, pid int, ended <-chan struct{}) {
	select {
	case <-ended:
		return
	case <-ctx.Done():
	}
	r.stopped.Store(true)
	terminateGroup(pid)
	grace := r.Grace
	if grace <= 0 {
		grace = defaultGrace
	}
	timer := time.NewTimer(grace)
	defer timer.Stop()
	select {
	case <-ended:
	case <-timer.C:
		killGroup(pid)
		Sweep(r.mark)
	}
}

// startError explains why a program could not be started.
func startError(name string, err error) error {
	var p *fs.PathError
	switch {
	case tooLong(err):
		return fmt.Errorf("%s: the arguments are too long for this machine; pass long text by stdin", name)
	case errors.Is(err, fs.ErrPermission):
		return fmt.Errorf("%s is not executable; set its execute bit or run it with its interpreter", name)
	case errors.As(err, &p):
		return fmt.Errorf("cannot start %s: %w", name, p.Err)
	}
	return fmt.Errorf("cannot start %s: %w", name, err)
}
