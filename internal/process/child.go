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
	childGrace = 500 * time.Millisecond // of a Child, between the ways to end it
	childKeep  = 8 << 10                // bytes kept of a Child's stderr
)

// Child is a process that goes on until it is closed, and talks meanwhile.
type Child struct {
	// Stdin and Stdout are the pipes to it. Reading ends with io.EOF when the
	// child has; both are closed by Close. A write may wait for the child: Close
	// ends it.
	Stdin  io.Writer
	Stdout io.Reader

	r           *run
	in, out     *os.File
	stderr      *stream
	leader      int
	ended, gone chan struct{} // the child has; nothing of its group is left
	state       *os.ProcessState
	once        sync.Once
}

// Start starts a child that is left running; the caller closes it. Of the
// Command, Stdin is not used, Keep is for stderr (0 = 8 KiB), and Grace is the
// time that Close gives the child each time (0 = 500 ms). A child that ends by
// itself leaves nothing of its group behind either.
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

// attach makes the pipes.
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

// attend starts the child and waits for its end, on one thread: the kernel kills
// the child when the thread that started it is gone.
func (c *Child) attend(cmd *exec.Cmd, started chan<- error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	watch := c.r.guarded()
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
	// The state that Wait leaves tells how the child ended; its error does not.
	_ = cmd.Wait()
	c.state = cmd.ProcessState
	close(c.ended)
	c.r.leave(c.leader, c.stderr)
	Sweep(c.r.mark)
	c.stderr.close()
	close(c.gone)
}

// Ended is closed when the child has ended and nothing of its group is left.
func (c *Child) Ended() <-chan struct{} { return c.gone }

// Stderr is what was kept of what the child wrote there so far.
func (c *Child) Stderr() string { return c.stderr.text() }

// ExitText is how the child ended, in words; "" while it has not.
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

// Close ends the child: its input is closed, then it is asked to stop (SIGTERM),
// then killed with its group and what left it, each after the grace. It returns
// when nothing is left, may be called more than once, and by many.
func (c *Child) Close() {
	c.once.Do(func() {
		c.in.Close()
		if !c.within(c.r.Grace) {
			askGroup(c.leader)
		}
		if !c.within(c.r.Grace) {
			endGroup(c.leader)
			Sweep(c.r.mark)
		}
		<-c.gone
		c.out.Close()
	})
}

// within waits a little for the child's end and says whether it came.
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
