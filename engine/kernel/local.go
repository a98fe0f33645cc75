package kernel

import (
	"errors"
	"sync"
	"time"
)

// local is the World of a session that performs its tasks on goroutines of this process.
type local struct {
	clock   func() time.Duration
	workers *Workers
	wake    chan struct{}

	mu   sync.Mutex
	idle *worker // waits for the next task; nil = none
	over bool    // no task follows
}

var _ World = (*local)(nil)

// Begin implements World: it performs the task on an idle worker, or on a new one.
func (l *local) Begin(t Task) {
	l.mu.Lock()
	w := l.idle
	l.idle = nil
	l.mu.Unlock()
	if w == nil {
		w = l.workers.take()
	}
	if w != nil {
		w.next <- job{l, t} // buffered: the worker may still be on its way to receive
		return
	}
	w = &worker{make(chan job, 1)}
	go w.work(job{l, t})
}

// Drop implements World. The context of the task has ended.
func (l *local) Drop(Task) {}

// Timer implements World.
func (l *local) Timer(d time.Duration, fire func()) Timer { return time.AfterFunc(d, fire) }

// Wait implements World.
func (l *local) Wait(s Signals) {
	if s == (Signals{}) {
		<-l.wake
		return
	}
	select {
	case <-l.wake:
	case <-s.Commit:
	case <-s.Cancel:
	case <-s.Suspend:
	}
}

// Wake implements World.
func (l *local) Wake() {
	select {
	case l.wake <- struct{}{}:
	default:
	}
}

// Now implements World.
func (l *local) Now() time.Duration { return l.clock() }

// perform performs a task and reports whether the worker is idle afterwards.
func (l *local) perform(w *worker, t Task) (idle bool) {
	var out Outcome
	returned := false
	defer func() {
		if !returned {
			p := recover()
			if p == nil {
				p = errEndedGoroutine
			}
			out = Outcome{Fatal: panicked(t, p)}
		}
		idle = returned && l.keep(w)
		t.End(out)
	}()
	if t.e.awaitDelay() {
		out = t.e.runWork()
	} else {
		out = failed(t.e.ctx.Err())
	}
	returned = true
	return
}

var errEndedGoroutine = errors.New("the effect ended its goroutine")

// keep keeps an idle worker for the next task, of this session or of another. It returns false
// if the worker is not needed any more.
func (l *local) keep(w *worker) bool {
	l.mu.Lock()
	free := l.idle == nil && !l.over
	if free {
		l.idle = w
	}
	l.mu.Unlock()
	return free || l.workers.put(w)
}

// end lets the idle worker end, and busy ones after their task.
func (l *local) end() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.over = true; l.idle != nil {
		if !l.workers.put(l.idle) {
			close(l.idle.next)
		}
		l.idle = nil
	}
}

// Workers keeps the goroutines that perform the tasks of many runs. A run that begins
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

// worker is a goroutine that performs tasks, one after another. A session in which one
// task follows another needs only one.
type worker struct{ next chan job }

// job is a task of a session.
type job struct {
	l *local
	t Task
}

// work performs tasks until the worker is not needed any more.
func (w *worker) work(j job) {
	for j.l != nil && j.l.perform(w, j.t) {
		j = <-w.next
	}
}
