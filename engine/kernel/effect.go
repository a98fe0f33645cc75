package kernel

import (
	"context"
	"slices"
	"time"

	"github.com/pexctl/pex/engine/failpoint"
	"github.com/pexctl/pex/engine/journal"
)

// effect is an issued effect that a branch or a Timeout waits for.
type effect struct {
	run       *run
	b         *branch
	scope     *Scope
	path      string
	key       string // idempotency key, by default run id and path
	layer     string
	detail    any
	digest    journal.Digest
	request   []byte // of a question
	otherwise error  // see RecordedOutcome.Otherwise

	class   journal.Class
	attempt uint16
	once    bool
	// interruptible reports that a message with Interrupt ends the effect.
	interruptible bool

	started  bool
	replayed bool // Recorded has its outcome
	inDoubt  bool // a write that was started and whose outcome is unknown
	ended    bool // the outcome is known but not delivered yet
	closed   bool // nothing waits for it any more
	declined bool // a question that was not answered inline
	yields   bool // a yield, see Scope.Boundary

	failure    []byte // inDoubt: the encoded Failure of this run's attempt, if any
	rank       uint64 // order of the recorded outcome
	issue      uint64
	delay, due time.Duration // due: active time for timers, virtual time for others
	prev, next *effect

	work   performer // nil for timers, and for questions not asked inline
	data   Work      // what work does; nil = only this process can do it
	fire   func()    // set for timers of Timeouts
	bounds *Scope    // the scope that fire cuts
	timer  Timer
	ctx    effectContext
	ticket *journal.Ticket // commit of the intent

	out Outcome
	cut error // error of the cut that ended the wait
}

// performer performs the work of an effect.
type performer interface {
	perform(ctx context.Context, key string) Outcome
}

// result returns the record of an effect's outcome.
func (e *effect) result(out Outcome) journal.Record {
	return out.stamp.applyTo(journal.Record{
		Kind: journal.Result, Path: e.path, Status: out.Status, Body: out.Body, Encoded: out.Encoded, Value: out.value,
		Sync: e.class == journal.Write || e.class == journal.Question,
	})
}

// effectList is a linked list in issue order.
type effectList struct{ first, last *effect }

func (l *effectList) push(e *effect) {
	if e.prev = l.last; l.last != nil {
		l.last.next = e
	} else {
		l.first = e
	}
	l.last = e
}

// remove leaves e.next set, so that a loop over the list can continue from e.
func (l *effectList) remove(e *effect) {
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

// close removes an effect that is delivered, cut or no longer needed.
func (r *run) close(e *effect) {
	r.open.remove(e)
	e.closed = true
	if e.class == journal.Question {
		i := slices.Index(r.questions, e)
		r.questions = slices.Delete(r.questions, i, i+1)
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

// abandon stops the work of an effect.
func (e *effect) abandon() {
	if e.timer != nil {
		e.timer.Stop()
	}
	if e.ctx.e != nil {
		e.ctx.cancel()
		e.run.world.Drop(Task{e})
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
	e.ctx.Context, e.ctx.e = r.ctx, e
	r.world.Begin(Task{e})
}

func (r *run) startTimer(e *effect) {
	if r.o.Virtual {
		e.ended = true
		return
	}
	e.timer = r.world.Timer(e.due-r.active(), func() { r.report(e) })
}

// waitsForCommit reports whether the effect starts only once its intent is durable.
func (e *effect) waitsForCommit() bool {
	return e.once || e.class == journal.Write || e.class == journal.Question
}

func (e *effect) runWork() Outcome {
	if err := (Task{e}).Committed(); err != nil {
		return Outcome{Fatal: err}
	}
	failpoint.At(failpoint.EffectBefore)
	out := e.work.perform(&e.ctx, e.key)
	failpoint.At(failpoint.EffectAfter)
	return out
}

// awaitDelay waits in real time for the delay of the effect. It returns false if the effect is
// abandoned meanwhile.
func (e *effect) awaitDelay() bool {
	if e.delay <= 0 || e.run.o.Virtual {
		return true
	}
	t := time.NewTimer(e.delay)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-e.ctx.Done():
		return false
	}
}
