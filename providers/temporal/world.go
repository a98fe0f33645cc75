package temporal

import (
	"errors"
	"time"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"github.com/pexctl/pex/engine/kernel"
	"github.com/pexctl/pex/engine/runtime"
)

// world is the kernel.World of one session of a run, in workflow code.
type world struct {
	ctx     workflow.Context
	began   time.Time
	options func(*runtime.Work) workflow.ActivityOptions
	full    func() bool // the history is so long that the session should end
	suspend func()      // ends the session
	awake   bool
	open    map[kernel.Task]workflow.CancelFunc
}

var _ kernel.World = (*world)(nil)

func newWorld(ctx workflow.Context, options func(*runtime.Work) workflow.ActivityOptions) *world {
	return &world{ctx: ctx, began: workflow.Now(ctx), options: options, full: func() bool { return false }, suspend: func() {}, open: map[kernel.Task]workflow.CancelFunc{}}
}

// Begin implements kernel.World.
func (w *world) Begin(t kernel.Task) {
	ctx, cancel := workflow.WithCancel(w.ctx)
	w.open[t] = cancel
	work := runtime.WorkOf(t)
	if work == nil && t.Delay() <= 0 {
		t.End(t.Perform())
		return
	}
	workflow.Go(ctx, func(ctx workflow.Context) {
		out, ended := kernel.Outcome{}, false
		if work == nil {
			if ended = workflow.Sleep(ctx, t.Delay()) == nil; ended {
				out = t.Perform()
			}
		} else {
			out, ended = w.perform(ctx, work)
		}
		if ended {
			t.End(out)
		}
	})
}

// The waits before work is tried again that could not begin.
const (
	firstWait = time.Second
	maxWait   = time.Minute
)

// perform performs work as an activity. It returns false if the work is dropped.
func (w *world) perform(ctx workflow.Context, work *runtime.Work) (kernel.Outcome, bool) {
	for wait := firstWait; ; wait = min(2*wait, maxWait) {
		var encoded []byte
		err := workflow.ExecuteActivity(workflow.WithActivityOptions(ctx, w.options(work)), activityName, work).Get(ctx, &encoded)
		if ctx.Err() != nil {
			return kernel.Outcome{}, false
		}
		var out kernel.Outcome
		if err == nil {
			if err = out.UnmarshalBinary(encoded); err != nil {
				panic(err) // blocks the workflow, loses nothing, and says so, until a worker understands the outcome
			}
			return out, true
		}
		var failure *temporal.ApplicationError
		switch {
		case !errors.As(err, &failure) && !isActivityError(err):
			panic(err) // the outcome cannot be decoded: likewise
		case failure != nil && failure.Type() == errUnavailable:
			if workflow.Sleep(ctx, wait) != nil {
				return kernel.Outcome{}, false
			}
		case failure != nil && failure.Type() == errRefused:
			return kernel.Outcome{Fatal: errors.New(failure.Message())}, true
		default: // the worker has ended, or what it returned was lost
			return kernel.Outcome{Lost: true}, true
		}
	}
}

func isActivityError(err error) bool {
	_, ok := errors.AsType[*temporal.ActivityError](err)
	return ok
}

// Drop implements kernel.World. It cancels work in progress.
func (w *world) Drop(t kernel.Task) {
	if cancel := w.open[t]; cancel != nil {
		delete(w.open, t)
		cancel()
	}
}

// timer is a kernel.Timer.
type timer struct {
	cancel workflow.CancelFunc
	fired  bool
}

// Stop implements kernel.Timer.
func (t *timer) Stop() bool {
	t.cancel()
	return !t.fired
}

// Timer implements kernel.World.
func (w *world) Timer(d time.Duration, fire func()) kernel.Timer {
	ctx, cancel := workflow.WithCancel(w.ctx)
	t := &timer{cancel: cancel}
	f := workflow.NewTimer(ctx, max(d, time.Millisecond))
	workflow.Go(ctx, func(ctx workflow.Context) {
		if f.Get(ctx, nil) == nil {
			t.fired = true
			fire()
		}
	})
	return t
}

// Wait implements kernel.World.
func (w *world) Wait(s kernel.Signals) {
	_ = workflow.Await(w.ctx, func() bool { // the context is never cancelled
		if w.full() {
			w.suspend()
		}
		return w.awake || isClosed(s.Commit) || isClosed(s.Cancel) || isClosed(s.Suspend)
	})
	w.awake = false
}

func isClosed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// Wake implements kernel.World. Workflow code wakes only itself.
func (w *world) Wake() { w.awake = true }

// Now implements kernel.World.
func (w *world) Now() time.Duration { return workflow.Now(w.ctx).Sub(w.began) }
