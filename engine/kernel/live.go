package kernel

import (
	"context"
	"encoding/json"
	"strings"

	"github.com/pexctl/pex/engine/jsonvalue"

	"github.com/pexctl/pex/engine/failpoint"
	"github.com/pexctl/pex/engine/journal"
)

// deliverLive is reached when all branches wait and the journal is used up:
// the tick is committed, what it asks for is started, and the first thing that
// happens is delivered.
func (r *run) deliverLive() error {
	if r.o.More != nil {
		return r.lookOn()
	}
	if r.keepAdopted() || r.cancelNow() || r.withhold() {
		return nil
	}
	if r.o.Change != nil {
		r.change(0)
		return nil
	}
	if !r.reopened {
		if done, err := r.reopen(); done || err != nil {
			return err
		}
	}
	if r.answered() {
		return nil
	}
	t, err := r.flush()
	if err != nil {
		return err
	}
	if r.o.Strict {
		if err := t.Wait(); err != nil {
			return &StoreError{err}
		}
	}
	for _, e := range r.queued {
		if !e.gone && !e.yields {
			r.start(e, t)
		}
	}
	clear(r.queued)
	r.queued = r.queued[:0]
	if r.supply() {
		return nil
	}
	if on, err := r.yielded(); on || err != nil {
		return err
	}
	if err := r.put(); err != nil {
		return err
	}
	if r.working == 0 {
		if err := r.unsure(r.doubtful); err != nil { // what a recording left in doubt, once nothing else is under way
			return err
		}
		if r.timeouts == 0 || len(r.questions) > 0 {
			return r.stuck()
		}
	}
	return r.await()
}

// stuck ends a session in which only people, or nobody, can go on. The timer
// of a Timeout keeps nobody waiting: time does not pass while a run is parked.
func (r *run) stuck() error {
	if len(r.questions) == 0 {
		return ErrDeadlock
	}
	p := &Parked{}
	for _, e := range r.questions {
		p.Questions = append(p.Questions, Open{e.path, e.request, nil})
	}
	if err := r.mark(); err != nil {
		return err
	}
	return p
}

// reopen deals with the effects that earlier sessions left open; done says
// that something was delivered and the rest is still to do.
func (r *run) reopen() (done bool, err error) {
	for e := r.open.first; e != nil; e = e.next {
		if !r.inherited(e) || e.class == journal.Timer {
			continue
		}
		found, err := r.find(e)
		if err != nil {
			return false, err
		}
		if found {
			delete(r.recorded, e.path)
		}
	}
	if err := r.unsure(r.inherited); err != nil {
		return false, err
	}
	if r.forsake() {
		return true, nil
	}
	for e := r.open.first; e != nil; e = e.next {
		if r.doubtful(e) && r.decided(e) && (r.gaveUp || r.o.Resolve[e.path] != "redo") {
			delete(r.recorded, e.path)
			e.doubt = false
			r.record(e, r.resolution(e))
			failpoint.At(failpoint.RecoverDecided)
			return true, nil
		}
	}
	for e := r.open.first; e != nil; e = e.next {
		if e.class == journal.Question || !r.inherited(e) && !e.doubt || r.doubtful(e) && !r.decided(e) {
			continue
		}
		e.doubt, e.why = false, nil
		if e.class != journal.Timer {
			e.attempt++
			rec := journal.Record{Kind: journal.Redo, Path: e.path, Attempt: e.attempt}
			if r.o.Resolve[e.path] == "redo" {
				rec = r.stamp().on(rec)
			}
			r.add(rec)
			r.decision(&rec, e)
			failpoint.At(failpoint.RecoverRedo)
		}
		r.queued = append(r.queued, e)
	}
	r.reopened, r.recorded = true, nil
	return false, nil
}

// forsake ends the first effect that an earlier session left open and that is
// not performed again.
func (r *run) forsake() bool {
	for e := r.open.first; e != nil; e = e.next {
		if e.once && e.class != journal.Write && r.inherited(e) {
			delete(r.recorded, e.path)
			r.record(e, failed(&journal.Failure{Code: FailureUnknown, Message: "the session that began it ended before its outcome was there"}))
			failpoint.At(failpoint.RecoverDecided)
			return true
		}
	}
	return false
}

// inherited says that an earlier session issued the effect.
func (r *run) inherited(e *effect) bool { return r.recorded[e.path] == e }

// doubtful says that nobody knows whether an open write took effect.
func (r *run) doubtful(e *effect) bool {
	return e.class == journal.Write && !e.given && (e.doubt || r.inherited(e))
}

// decided says whether somebody has said what becomes of a write in doubt.
func (r *run) decided(e *effect) bool { return r.o.Resolve[e.path] != "" || r.gaveUp }

// unsure is the writes in doubt about which nobody has decided, or nil.
func (r *run) unsure(of func(*effect) bool) error {
	n := &NeedsReview{}
	for e := r.open.first; e != nil; e = e.next {
		if of(e) && r.doubtful(e) && !r.decided(e) {
			n.Writes = append(n.Writes, Open{e.path, e.request, e.why})
		}
	}
	if len(n.Writes) == 0 {
		return nil
	}
	n.Path = n.Writes[0].Path
	if r.withdraw() {
		if err := r.settle(); err != nil {
			return err
		}
		return n
	}
	if err := r.mark(); err != nil {
		return err
	}
	return n
}

// withdraw takes back what was asked for in this tick and not begun, and says
// whether there was anything: a write whose intent is journaled counts as one
// in doubt. A re-run asks for it again, so no marker may follow.
func (r *run) withdraw() bool {
	n := len(r.tick)
	for n > 0 && r.tick[n-1].Kind == journal.Intent {
		n--
	}
	if n == len(r.tick) {
		return false
	}
	r.seq -= uint64(len(r.tick) - n)
	clear(r.tick[n:])
	if r.tick = r.tick[:n]; n == 0 {
		r.emits = nil // the re-run tells them
	}
	return true
}

// resolution is the outcome that a person gave to a write in doubt; a run that
// is cancelled does not wait for one, and does nothing again.
func (r *run) resolution(e *effect) outcome {
	how := r.o.Resolve[e.path]
	if body, ok := strings.CutPrefix(how, "done:"); ok {
		return outcome{body: []byte(body), stamp: r.stamp()}
	}
	if how == "skip" {
		data, _ := jsonvalue.Marshal(KeyData{e.key}) // a string always encodes
		f := &journal.Failure{Code: FailureSkipped, Message: skippedMessage, Data: data}
		return outcome{status: journal.Skipped, body: f.Encode(), encoded: true, stamp: r.stamp()}
	}
	return outcomeUnknown()
}

// answered delivers the first open question to which there is an answer.
func (r *run) answered() bool {
	for _, e := range r.questions {
		if a, ok := r.o.Answers[e.path]; ok {
			r.record(e, outcome{body: a, stamp: r.stamp()})
			return true
		}
	}
	return false
}

// record journals an outcome and hands it to whoever waits.
func (r *run) record(e *effect, out outcome) {
	if r.o.Virtual {
		r.now = max(r.now, e.due)
	}
	e.out = out
	failpoint.At(failpoint.ResultBefore)
	rec := e.result(out)
	r.add(rec)
	r.decision(&rec, e)
	failpoint.At(failpoint.ResultAfter)
	r.hand(e)
}

// put asks a person the next question, one at a time, once everything before it
// has been emitted: the person sees what led to it.
func (r *run) put() error {
	if r.o.Ask == nil || r.asking != nil {
		return nil
	}
	for _, e := range r.questions {
		if e.declined {
			continue
		}
		if err := r.settle(); err != nil {
			return err
		}
		r.asking = e
		e.work = question{e}
		r.start(e, r.last)
		return nil
	}
	return nil
}

// question is put to a person in place.
type question struct{ *effect }

func (q question) perform(ctx context.Context, _ string) outcome {
	a, err := q.run.o.Ask(ctx, q.path, q.request)
	if err != nil || len(a) == 0 || !json.Valid(a) {
		return outcome{declined: true}
	}
	return outcome{body: a, stamp: q.run.stamp()}
}
