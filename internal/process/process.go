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

// Marker names the variable by which a child and its children are known; its
// value is new for each Run.
const Marker = "PEX_CALL"

const (
	defaultGrace = 2 * time.Second
	linger       = 200 * time.Millisecond // for output still in a pipe when the child has ended
)

// Command says what to run.
type Command struct {
	Argv  []string // program and arguments; a program without a slash is looked up in Path
	Path  string   // folders to look in, as in PATH
	Dir   string   // absolute; also where a relative program starts
	Env   []string // the whole environment, "name=value"
	Stdin *string  // nil = nothing to read
	Keep  int      // bytes kept of each stream: half from the start, half from the end; 0 = 256 KiB
	// Guard is called before the child is started, with the mark that it and
	// its children will bear (see Sweep); what it returns is told the leader of
	// the child's group. Both are to be ended if this process is killed, until
	// release is called. Nil = nobody does.
	Guard func(mark string) (watch func(leader int) (release func()))
	// Grace is the time between SIGTERM and SIGKILL; 0 = 2 s.
	Grace time.Duration
}

// Result is what became of a child that was started.
type Result struct {
	Stdout, Stderr string // as kept; what was left out between head and tail is said in the middle
	Code           int    // exit status, -1 when a signal ended it
	Signal         string // the signal that ended it, or ""
}

// NotStartedError is the error of Run where no child was started.
type NotStartedError struct{ Err error }

// Error implements error.
func (e *NotStartedError) Error() string { return e.Err.Error() }

// Unwrap returns the reason.
func (e *NotStartedError) Unwrap() error { return e.Err }

// Run starts a child and waits for its end. The error is nil whatever the
// child's exit status; it wraps the context's error when that ended the child
// (the Result holds what was written till then).
func Run(ctx context.Context, c Command) (Result, error) {
	if err := ctx.Err(); err != nil {
		return Result{}, &NotStartedError{err}
	}
	r, err := c.prepare()
	if err != nil {
		return Result{}, &NotStartedError{err}
	}
	// The kernel kills the child when the thread that started it is gone, so
	// this thread is kept until the child has ended.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	return r.run(ctx)
}

// prepare finds the program and marks the child to be.
func (c Command) prepare() (*run, error) {
	program, err := c.program()
	if err != nil {
		return nil, err
	}
	keepFiles()
	return &run{Command: c, file: program, mark: Marker + "=" + rand.Text()}, nil
}

// program finds the file to run.
func (c Command) program() (string, error) {
	if len(c.Argv) == 0 || c.Argv[0] == "" {
		return "", errors.New("argv names no program")
	}
	for i, arg := range c.Argv {
		if strings.ContainsRune(arg, 0) {
			return "", fmt.Errorf("argument %d holds a NUL byte, which no program can be given", i)
		}
	}
	name := c.Argv[0]
	if strings.ContainsAny(name, "/"+string(filepath.Separator)) {
		full := name
		if !filepath.IsAbs(name) {
			full = filepath.Join(c.Dir, name)
		}
		if err := runnable(full); err != nil {
			return "", fmt.Errorf("program %s cannot be run: %w", name, err)
		}
		return full, nil
	}
	for _, dir := range filepath.SplitList(c.Path) {
		if full := filepath.Join(dir, name); filepath.IsAbs(dir) && runnable(full) == nil {
			return full, nil
		}
	}
	return "", fmt.Errorf("program %s was not found in PATH (%s); install it, or write its path", name, c.Path)
}

// run is one child under way.
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

// guarded asks the guard, who is told the leader of the group later.
func (r *run) guarded() (watch func(leader int) (release func())) {
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
	watch := r.guarded()
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

// start starts the child and feeds it its input; stop ends the feeding.
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
		// A child that does not read its input is none of our trouble: the
		// write ends when the other end of the pipe is closed, or by stop.
		_, _ = io.WriteString(to, *r.Stdin)
		to.Close()
	}()
	return func() { to.Close() }, nil
}

// wait waits for the child and its output, and leaves nothing of its group.
func (r *run) wait(ctx context.Context, cmd *exec.Cmd, streams ...*stream) {
	ended, watched := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(watched)
		r.watch(ctx, cmd.Process.Pid, ended)
	}()
	// The state that Wait leaves tells how the child ended; its error does not.
	_ = cmd.Wait()
	close(ended)
	<-watched
	open := r.leave(cmd.Process.Pid, streams...)
	if open || r.stopped.Load() {
		Sweep(r.mark)
	}
}

// leave reads what a child that ended had still to say, and ends its group; open
// says that somebody holds an output all the same.
func (r *run) leave(leader int, streams ...*stream) (open bool) {
	for _, s := range streams {
		s.drain(linger)
	}
	endGroup(leader)
	for _, s := range streams {
		open = !s.drain(linger) || open
	}
	return open
}

// watch ends the group when the context ends first.
func (r *run) watch(ctx context.Context, pid int, ended <-chan struct{}) {
	select {
	case <-ended:
		return
	case <-ctx.Done():
	}
	r.stopped.Store(true)
	askGroup(pid)
	grace := r.Grace
	if grace <= 0 {
		grace = defaultGrace
	}
	timer := time.NewTimer(grace)
	defer timer.Stop()
	select {
	case <-ended:
	case <-timer.C:
		endGroup(pid)
		Sweep(r.mark)
	}
}

// startError says why a program could not be started.
func startError(name string, err error) error {
	var p *fs.PathError
	switch {
	case tooLong(err):
		return fmt.Errorf("%s: the arguments are too long for this machine; pass long text by stdin", name)
	case errors.Is(err, fs.ErrPermission):
		return fmt.Errorf("%s is not executable; set its execute bit or run it by its interpreter", name)
	case errors.As(err, &p):
		return fmt.Errorf("%s cannot be started: %w", name, p.Err)
	}
	return fmt.Errorf("%s cannot be started: %w", name, err)
}
