package kernel

import (
	"context"
	"encoding/json"
	"slices"
	"strings"

	"github.com/pexctl/pex/engine/jsonvalue"

	"github.com/pexctl/pex/engine/failpoint"
	"github.com/pexctl/pex/engine/journal"
)

// deliverLive runs when all branches wait and the journal is used up. It commits the
// tick, starts its effects, and delivers the first event.
func (r *run) deliverLive() error {
	if r.o.Follow != nil {
		return r.tail()
	}
	if r.deliverCarriedOver() || r.cancelNow() || r.failUnstarted() {
		return nil
	}
	if r.o.ChangeBody != nil {
		r.applyNewChange(0)
		return nil
	}
	if !r.inheritedDone {
		if done, err := r.resolveInherited(); done || err != nil {
			return err
		}
	}
	if r.deliverAnswer() {
		return nil
	}
	t, err := r.deliverMessages(false)
	if err != nil {
		return err
	}
	if r.o.Strict {
		if err := t.Wait(); err != nil {
			return &StoreError{err}
		}
	}
	if r.interrupting > 0 {
		t.Start()
		return nil
	}
	r.startTick(t)
	if r.replayAnswer() {
		return nil
	}
	if on, err := r.deliverYield(); on || err != nil {
		return err
	}
	if err := r.askNext(); err != nil {
		return err
	}
	if r.working == 0 {
		if on, err := r.releaseHeldBack(); on || err != nil {
			return err
		}
		if err := r.reviewNeeded(r.needsDecision); err != nil { // writes that a recording left in doubt, once no other effect is in flight
			return err
		}
		if r.timeouts == 0 || r.withheld || len(r.questions) > 0 {
			return r.parkOrDeadlock()
		}
	}
	return r.await()
}

// startTick starts the effects of the tick that was committed with t.
func (r *run) startTick(t *journal.Ticket) {
	awaited := false
	for _, e := range r.toStart {
		if !e.closed && !e.yields {
			awaited = awaited || e.waitsForCommit()
			r.start(e, t)
		}
	}
	if !awaited {
		t.Start() // otherwise the effect commits
	}
	clear(r.toStart)
	r.toStart = r.toStart[:0]
}

// parkOrDeadlock ends a session that needs answers, or in which every branch waits for
// another. Timers of Timeouts do not keep it going: active time stops while a run is
// suspended.
func (r *run) parkOrDeadlock() error {
	switch {
	case len(r.questions) == 0 && r.withheld:
		return ErrWithheld
	case len(r.questions) == 0:
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

// resolveInherited handles the effects that earlier sessions left open. done reports that
// something was delivered and more is left to do.
func (r *run) resolveInherited() (done bool, err error) {
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
	r.permitResolutions()
	if err := r.reviewNeeded(r.inherited); err != nil {
		return false, err
	}
	if r.failInherited() {
		return true, nil
	}
	for e := r.open.first; e != nil; e = e.next {
		if r.needsDecision(e) && r.hasDecision(e) && (r.cancelled || r.o.Resolve[e.path] != "redo") {
			delete(r.recorded, e.path)
			e.inDoubt = false
			r.record(e, r.resolution(e))
			failpoint.At(failpoint.RecoverDecided)
			return true, nil
		}
	}
	for e := r.open.first; e != nil; e = e.next {
		if e.class == journal.Question || !r.inherited(e) && !e.inDoubt || r.needsDecision(e) && !r.hasDecision(e) {
			continue
		}
		e.inDoubt, e.failure = false, nil
		if e.class != journal.Timer {
			e.attempt++
			rec := journal.Record{Kind: journal.Redo, Path: e.path, Attempt: e.attempt, Sync: e.waitsForCommit()}
			if r.o.Resolve[e.path] == "redo" {
				rec = r.resolvedBy[e.path].applyTo(rec)
				r.announceDecision(e)
			}
			r.add(rec)
			r.reportDecision(&rec, e)
			failpoint.At(failpoint.RecoverRedo)
		}
		r.toStart = append(r.toStart, e)
	}
	r.inheritedDone, r.recorded = true, nil
	return false, nil
}

// failInherited fails the first effect that an earlier session left open and that must
// not be repeated.
func (r *run) failInherited() bool {
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

// inherited reports whether an earlier session issued the effect.
func (r *run) inherited(e *effect) bool { return r.recorded[e.path] == e }

// needsDecision reports whether e is an open write whose outcome is unknown.
func (r *run) needsDecision(e *effect) bool {
	return e.class == journal.Write && !e.replayed && (e.inDoubt || r.inherited(e))
}

// hasDecision reports whether there is a decision about a write in doubt.
func (r *run) hasDecision(e *effect) bool { return r.o.Resolve[e.path] != "" || r.cancelled }

// reviewNeeded returns a NeedsReview for the undecided writes in doubt that match, or
// nil.
func (r *run) reviewNeeded(of func(*effect) bool) error {
	n := &NeedsReview{}
	for e := r.open.first; e != nil; e = e.next {
		if of(e) && r.needsDecision(e) && !r.hasDecision(e) {
			n.Writes = append(n.Writes, Open{e.path, e.request, e.failure})
		}
	}
	if len(n.Writes) == 0 {
		return nil
	}
	n.Path = n.Writes[0].Path
	if r.retract() {
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

// retract drops the effects requested in this tick, which are not started, and reports
// whether there were any: a write with a journaled intent would count as in doubt. A
// replay requests them again, so no marker may follow.
func (r *run) retract() bool {
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
		r.emits = nil // the replay calls them
	}
	return true
}

// resolution returns the outcome that a human decided for a write in doubt. In a
// cancelled run an undecided write ends as unknown.
func (r *run) resolution(e *effect) Outcome {
	how := r.o.Resolve[e.path]
	if body, ok := strings.CutPrefix(how, "done:"); ok {
		return Outcome{Body: []byte(body), stamp: r.resolvedBy[e.path]}
	}
	if how == "skip" {
		data, _ := jsonvalue.Marshal(KeyData{e.key}) // a string always encodes
		f := &journal.Failure{Code: FailureSkipped, Message: skippedMessage, Data: data}
		return Outcome{Status: journal.Skipped, Body: f.Encode(), Encoded: true, stamp: r.resolvedBy[e.path]}
	}
	return outcomeUnknown()
}

// deliverAnswer delivers the first open question that has an answer.
func (r *run) deliverAnswer() bool {
	for _, e := range r.questions {
		a, ok := r.o.Answers[e.path]
		if !ok {
			continue
		}
		s, err := r.permitted(Proposal{Path: e.path, Answer: a})
		if err != nil {
			delete(r.o.Answers, e.path)
			continue
		}
		r.record(e, Outcome{Body: a, stamp: s})
		return true
	}
	return false
}

// record journals an outcome and delivers it.
func (r *run) record(e *effect, out Outcome) {
	if r.o.Virtual {
		r.now = max(r.now, e.due)
	}
	e.out = out
	failpoint.At(failpoint.ResultBefore)
	rec := e.result(out)
	r.add(rec)
	r.reportDecision(&rec, e)
	if out.stamp != nil {
		r.announceDecision(e)
	}
	failpoint.At(failpoint.ResultAfter)
	r.deliverTo(e)
	r.replayMessagesWith(func(m *RecordedMessage) bool { return m.With == e.path })
}

// askNext asks the open questions inline, or only the first of them. Everything before
// them is emitted first, so that the human sees the context.
func (r *run) askNext() error {
	if r.o.Ask == nil || !r.o.AskAll && slices.ContainsFunc(r.questions, func(e *effect) bool { return e.started }) {
		return nil
	}
	for _, e := range r.questions {
		if e.declined || e.started {
			continue
		}
		if err := r.settle(); err != nil {
			return err
		}
		e.work = inlineQuestion{e}
		r.start(e, r.last)
		if !r.o.AskAll {
			return nil
		}
	}
	return nil
}

// inlineQuestion is a question asked during the session.
type inlineQuestion struct{ *effect }

func (q inlineQuestion) perform(ctx context.Context, _ string) Outcome {
	a, err := q.run.o.Ask(ctx, q.path, q.request)
	if err != nil || len(a.Body) == 0 || !json.Valid(a.Body) {
		return Outcome{declined: true}
	}
	return Outcome{Body: a.Body, stamp: q.run.stampBy(a.By)}
}
