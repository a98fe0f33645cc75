package kernel

import (
	"context"
	"errors"
	"runtime/debug"
	"slices"
	"time"

	"github.com/pexctl/pex/engine/failpoint"
	"github.com/pexctl/pex/engine/journal"
)

// effect is an issued effect that a branch, or a Timeout, waits for.
type effect struct {
	run        *run
	b          *branch
	scope      *Scope
	path       string
	key        string // run id and path
	class      journal.Class
	layer      string
	detail     any
	digest     [32]byte
	attempt    uint16
	request    []byte // of a question
	once       bool
	started    bool
	given      bool   // Recorded answers it
	doubt      bool   // a write that began and whose outcome is unknown
	why        []byte // doubt: the Failure that it ended with, if it did in this run
	rank       uint64 // of its answer
	finished   bool   // the outcome is there, not yet delivered
	gone       bool   // nobody waits any more
	declined   bool   // a question that nobody answered in place
	yields     bool   // a branch that lets the scheduler run, see Scope.Boundary
	issue      uint64
	delay, due time.Duration // due: active time of a timer, virtual time of others
	prev, next *effect

	work   performer // nil: timers, and questions that nobody is asked in place
	fire   func()    // timers of Timeout
	bounds *Scope    // of fire: the scope that it ends
	timer  *time.Timer
	ctx    context.Context
	cancel context.CancelFunc
	ticket *journal.Ticket // of the intent's commit

	out outcome
	cut error // the wait was cut
}

// performer does what an effect is there for.
type performer interface {
	perform(ctx context.Context, key string) outcome
}

// outcome of an effect.
type outcome struct {
	status   journal.Status
	encoded  bool // body came from journal.Encode
	declined bool // a question that nobody answered in place
	body     []byte
	value    any
	doubt    []byte // of a write: the encoded Failure of an unknown outcome
	stamp    *stamp // of a decision; nil = it is none
	fatal    error  // ends the session
}

// result is the record of an effect's outcome.
func (e *effect) result(out outcome) journal.Record {
	return out.stamp.on(journal.Record{
		Kind: journal.Result, Path: e.path, Status: out.status, Body: out.body, Encoded: out.encoded, Value: out.value,
	})
}

// effects is a list in issue order.
type effects struct{ first, last *effect }

func (l *effects) push(e *effect) {
	if e.prev = l.last; l.last != nil {
		l.last.next = e
	} else {
		l.first = e
	}
	l.last = e
}

// remove keeps e.next, so that a loop over the list may go on from e.
func (l *effects) remove(e *effect) {
	if e.prev != nil {
		e.prev.next = e.next
	} else {
		l.first = e.next
	}
	if e.next != nil {
		e.next.prev = e.prev
	} else {
		l.last = e.prev
	}
}

// close takes an effect off the books: it is delivered, cut or not needed.
func (r *run) close(e *effect) {
	r.open.remove(e)
	e.gone = true
	if e.class == journal.Question {
		i := slices.Index(r.questions, e)
		r.questions = slices.Delete(r.questions, i, i+1)
	}
	if e == r.asking {
		r.asking = nil
	}
	if e.started {
		if e.fire != nil {
			r.timeouts--
		} else {
			r.working--
		}
	}
	e.abandon()
}

// abandon ends what an effect still does.
func (e *effect) abandon() {
	if e.timer != nil {
		e.timer.Stop()
	}
	if e.cancel != nil {
		e.cancel()
	}
}

// start performs an effect; t is the commit of its intent.
func (r *run) start(e *effect, t *journal.Ticket) {
	e.started, e.ticket = true, t
	if e.fire != nil {
		r.timeouts++
	} else {
		r.working++
	}
	if r.o.Virtual {
		r.virtual.push(e)
	}
	if e.class == journal.Timer {
		r.startTimer(e)
		return
	}
	r.stats.Performed++
	e.ctx, e.cancel = context.WithCancel(r.ctx)
	if e.class == journal.Write {
		e.ctx = context.WithValue(e.ctx, underWay{}, e)
	}
	go e.run.perform(e)
}

func (r *run) startTimer(e *effect) {
	if r.o.Virtual {
		e.finished = true
		return
	}
	e.timer = time.AfterFunc(e.due-r.active(), func() { r.report(e) })
}

// perform is the goroutine of an effect.
func (r *run) perform(e *effect) {
	whole := false
	defer func() {
		if p := recover(); p != nil || !whole {
			if p == nil {
				p = errors.New("the effect ended its goroutine")
			}
			e.out = outcome{fatal: &PanicError{e.path, p, debug.Stack()}}
		}
		r.report(e)
	}()
	e.out = e.performed()
	whole = true
}

func (e *effect) performed() outcome {
	if e.once || e.class == journal.Write || e.class == journal.Question {
		if err := e.ticket.Wait(); err != nil {
			return outcome{fatal: &StoreError{err}}
		}
	}
	if e.delay > 0 && !e.run.o.Virtual {
		t := time.NewTimer(e.delay)
		defer t.Stop()
		select {
		case <-t.C:
		case <-e.ctx.Done():
			return failed(e.ctx.Err())
		}
	}
	failpoint.At(failpoint.EffectBefore)
	out := e.work.perform(e.ctx, e.key)
	failpoint.At(failpoint.EffectAfter)
	return out
}

func failed(err error) outcome {
	return outcome{status: journal.Failed, body: journal.AsFailure(err).Encode(), encoded: true}
}

// report hands an ended effect to the scheduler; it never blocks.
func (r *run) report(e *effect) {
	r.mu.Lock()
	r.done = append(r.done, e)
	r.mu.Unlock()
	r.rouse()
}

// rouse has the scheduler look around.
func (r *run) rouse() {
	select {
	case r.wake <- struct{}{}:
	default:
	}
}
