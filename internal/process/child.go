package process

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"sync"
	"time"
)

const (
	childGrace = 500 * time.Millisecond // of a Child, between the steps to end it
	childKeep  = 8 << 10                // bytes stored of a Child's stderr
)

// Child is a running process that communicates until it is closed.
type Child struct {
	// Stdin and Stdout are the pipes to the child. Reading ends with io.EOF when the child has exited. Close closes
	// both, and ends a blocked write.
	Stdin  io.Writer
	Stdout io.Reader

	r           *run
	in, out     *os.File
	stderr      *stream
	leader      int
	ended, gone chan struct{} // closed when the child has exited; when its group is gone too
	state       *os.ProcessState
	once        sync.Once
}

// Start starts a child, which the caller must close. Command.Stdin is ignored, Keep applies to stderr (0 = 8 KiB),
// and Grace is the time between the steps of Close (0 = 500 ms). If the child exits by itself, the rest of its group
// is killed too.
func Start(c Command) (*Child, error) {
	if c.Keep <= 0 {
		c.Keep = childKeep
	}
	if c.Grace <= 0 {
		c.Grace = childGrace
	}
	r, err := c.prepare()
	if err != nil {
		return nil, err
	}
	child := &Child{r: r, stderr: newStream(r.Keep), ended: make(chan struct{}), gone: make(chan struct{})}
	cmd := r.command()
	if err := child.attach(cmd); err != nil {
		return nil, fmt.Errorf("pipes of %s: %w", r.Argv[0], err)
	}
	started := make(chan error)
	go child.attend(cmd, started)
	if err := <-started; err != nil {
		return nil, startError(r.Argv[0], err)
	}
	return child, nil
}

// attach creates the pipes.
func (c *Child) attach(cmd *exec.Cmd) (err error) {
	var theirs [2]*os.File
	if theirs[0], c.in, err = os.Pipe(); err == nil {
		c.out, theirs[1], err = os.Pipe()
	}
	cmd.Stdin, cmd.Stdout = theirs[0], theirs[1]
	if err = errors.Join(err, c.stderr.attach(&cmd.Stderr)); err != nil {
		closeFiles(theirs[0], theirs[1], c.in, c.out)
		c.stderr.close()
		return err
	}
	c.Stdin, c.Stdout = c.in, c.out
	return nil
}

// attend starts the child and waits for its exit, on one thread, because the kernel kills the child when the thread
// that started it exits.
func (c *Child) attend(cmd *exec.Cmd, started chan<- error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	watch := c.r.guard()
	err := cmd.Start()
	closeFiles(cmd.Stdin.(*os.File), cmd.Stdout.(*os.File))
	c.stderr.started()
	if err != nil {
		closeFiles(c.in, c.out)
		c.stderr.close()
		started <- err
		return
	}
	c.leader = cmd.Process.Pid
	defer watch(c.leader)()
	started <- nil
	// The state tells how the child exited; the error of Wait does not.
	_ = cmd.Wait()
	c.state = cmd.ProcessState
	close(c.ended)
	c.r.finish(c.leader, c.stderr)
	Sweep(c.r.mark)
	c.stderr.close()
	close(c.gone)
}

// Ended returns a channel that is closed when the child has exited and its group is gone.
func (c *Child) Ended() <-chan struct{} { return c.gone }

// Stderr returns the stored part of the child's stderr so far.
func (c *Child) Stderr() string { return c.stderr.text() }

// ExitText describes how the child exited; "" while it runs.
func (c *Child) ExitText() string {
	select {
	case <-c.ended:
	default:
		return ""
	}
	if s := signalOf(c.state); s != "" {
		return "ended by signal: " + s
	}
	return fmt.Sprintf("exit status %d", c.state.ExitCode())
}

// Close ends the child: it closes its input, sends SIGTERM, and kills it with its group and the processes that left
// the group, each step after the grace. It returns when all of them are gone. It may be called several times and
// concurrently.
func (c *Child) Close() {
	c.once.Do(func() {
		c.in.Close()
		if !c.within(c.r.Grace) {
			terminateGroup(c.leader)
		}
		if !c.within(c.r.Grace) {
			killGroup(c.leader)
			Sweep(c.r.mark)
		}
		<-c.gone
		c.out.Close()
	})
}

// within waits for the child's exit and reports whether it happened in time.
func (c *Child) within(grace time.Duration) bool {
	timer := time.NewTimer(grace)
	defer timer.Stop()
	select {
	case <-c.ended:
		return true
	case <-timer.C:
		return false
	}
}

func closeFiles(files ...*os.File) {
	for _, f := range files {
		if f != nil {
			f.Close()
		}
	}
}
