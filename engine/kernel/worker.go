package kernel

import (
	"context"
	"errors"
	"runtime/debug"
	"sync"

	"github.com/pexctl/pex/engine/journal"
)

// Workers keeps the goroutines that perform the effects of many runs. A run that begins
// when another has ended uses its goroutine, whose stack has grown already. It is safe for
// concurrent use; nil keeps none.
type Workers struct {
	mu     sync.Mutex // guards the fields below
	idle   []*worker
	closed bool
}

// Close ends the idle goroutines, and those of runs in progress when they become idle.
func (p *Workers) Close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closed = true
	for _, w := range p.idle {
		close(w.next)
	}
	p.idle = nil
}

// take returns an idle worker, or nil.
func (p *Workers) take() *worker {
	if p == nil {
		return nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	n := len(p.idle)
	if n == 0 {
		return nil
	}
	w := p.idle[n-1] // the one with the warmest stack
	p.idle = p.idle[:n-1]
	return w
}

// put keeps an idle worker; false = it must end.
func (p *Workers) put(w *worker) bool {
	if p == nil {
		return false
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.closed {
		p.idle = append(p.idle, w)
	}
	return !p.closed
}

// worker is a goroutine that performs effects, one after another. A session in which one
// effect follows another needs only one.
type worker struct{ next chan task }

// task is an effect of a run.
type task struct {
	r *run
	e *effect
}

// dispatch performs e on an idle worker, or on a new one.
func (r *run) dispatch(e *effect) {
	r.mu.Lock()
	w := r.idle
	r.idle = nil
	r.mu.Unlock()
	if w == nil {
		w = r.o.Workers.take()
	}
	if w != nil {
		w.next <- task{r, e} // buffered: the worker may still be on its way to receive
		return
	}
	w = &worker{make(chan task, 1)}
	go w.work(task{r, e})
}

// work performs effects until the worker is not needed any more.
func (w *worker) work(t task) {
	for t.e != nil && t.r.perform(w, t.e) {
		t = <-w.next
	}
}

// perform performs one effect and reports whether the worker is idle afterwards.
func (r *run) perform(w *worker, e *effect) (idle bool) {
	whole := false
	defer func() {
		if p := recover(); p != nil || !whole {
			if p == nil {
				p = errors.New("the effect ended its goroutine")
			}
			e.out = outcome{fatal: &PanicError{e.path, p, debug.Stack()}}
			w = nil
		}
		idle = r.reportFrom(w, e)
	}()
	e.out = e.runWork()
	whole = true
	return
}

// reportFrom passes an ended effect to the scheduler and keeps its worker, if not nil, for
// the next one. It returns false if the worker is not needed any more.
func (r *run) reportFrom(w *worker, e *effect) (idle bool) {
	r.mu.Lock()
	r.endedQueue = append(r.endedQueue, e)
	if idle = w != nil && r.idle == nil && !r.ended; idle {
		r.idle = w
	}
	r.mu.Unlock()
	if w != nil && !idle {
		idle = r.o.Workers.put(w)
	}
	r.signal()
	return idle
}

// endWorkers lets the idle worker end, and busy ones after their effect.
func (r *run) endWorkers() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.ended = true; r.idle != nil {
		if !r.o.Workers.put(r.idle) {
			close(r.idle.next)
		}
		r.idle = nil
	}
}

// effectContext is the context in which an effect is performed. It has the values of the
// session's context and ends when nothing waits for the effect any more; every effect is
// closed before the session's context ends. Other contexts made from it need no goroutine,
// since it has AfterFunc.
type effectContext struct {
	context.Context
	e     *effect
	mu    sync.Mutex
	done  chan struct{} // made when first asked for
	err   error
	after *afterFunc // the latest, linked to those before it
	first afterFunc  // the earliest, for one allocation instead of two
}

// afterFunc is a function to call when a context ends.
type afterFunc struct {
	c    *effectContext
	f    func()
	next *afterFunc
}

// Done returns a channel that is closed when the context ends.
func (c *effectContext) Done() <-chan struct{} {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.done == nil {
		c.done = make(chan struct{})
		if c.err != nil {
			close(c.done)
		}
	}
	return c.done
}

// Err returns context.Canceled once the context has ended.
func (c *effectContext) Err() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.err
}

// Value returns a value of the session's context, or the write that is performed.
func (c *effectContext) Value(key any) any {
	if _, ok := key.(writeKey); ok && c.e.class == journal.Write {
		return c.e
	}
	return c.Context.Value(key)
}

// AfterFunc calls f on its own goroutine when the context ends; stop prevents that, and
// returns false if it is too late.
func (c *effectContext) AfterFunc(f func()) (stop func() bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.err != nil {
		go f()
		return func() bool { return false }
	}
	a := &c.first
	if a.c != nil {
		a = &afterFunc{}
	}
	*a = afterFunc{c, f, c.after}
	c.after = a
	return a.stop
}

func (a *afterFunc) stop() bool {
	a.c.mu.Lock()
	defer a.c.mu.Unlock()
	for at := &a.c.after; *at != nil; at = &(*at).next {
		if *at == a {
			*at = a.next
			return true
		}
	}
	return false
}

func (c *effectContext) cancel() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.err != nil {
		return
	}
	if c.err = context.Canceled; c.done != nil {
		close(c.done)
	}
	for a := c.after; a != nil; a = a.next {
		go a.f()
	}
	c.after = nil
}
