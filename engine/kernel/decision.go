package kernel

import (
	"context"
	"errors"

	"github.com/pexctl/pex/engine/journal"
)

// stamp returns the stamp of a decision made now in this session.
func (r *run) stamp() *stamp { return &stamp{r.o.By, r.o.WallClock().UnixNano()} }

// stampBy is stamp for a decision by someone else than Options.By; nil = by them.
func (r *run) stampBy(by []byte) *stamp {
	s := r.stamp()
	if by != nil {
		s.by = by
	}
	return s
}

// permitted returns the stamp of a proposed decision. ok is false if it is not permitted.
func (r *run) permitted(p Proposal) (s *stamp, err error) {
	if r.o.Permit == nil {
		return r.stampBy(p.By), nil
	}
	by, err := r.o.Permit(p)
	if err != nil {
		return nil, err
	}
	return &stamp{by, r.o.WallClock().UnixNano()}, nil
}

// permitAnswer stamps the answer to a question asked during the session. It returns false,
// and declines the question, if the answer is not permitted.
func (r *run) permitAnswer(e *effect) bool {
	if e.class != journal.Question || e.out.stamp == nil || r.o.Permit == nil {
		return !e.out.declined
	}
	by, err := r.o.Permit(Proposal{Path: e.path, Answer: e.out.Body, By: e.out.stamp.by})
	if err != nil {
		e.out = Outcome{declined: true}
		return false
	}
	e.out.stamp = &stamp{by, e.out.stamp.wall}
	return true
}

// permitResolutions drops the decisions about writes in doubt that are not permitted.
func (r *run) permitResolutions() {
	for e := r.open.first; e != nil; e = e.next {
		how := r.o.Resolve[e.path]
		if how == "" || r.resolvedBy[e.path] != nil || !r.needsDecision(e) {
			continue
		}
		s, err := r.permitted(Proposal{Path: e.path, Resolve: how})
		if err != nil {
			delete(r.o.Resolve, e.path)
			continue
		}
		if r.resolvedBy == nil {
			r.resolvedBy = map[string]*stamp{}
		}
		r.resolvedBy[e.path] = s
	}
}

// announceDecision calls Options.Decided once the decision about e, just added, is durable.
func (r *run) announceDecision(e *effect) {
	if decided := r.o.Decided; decided != nil {
		path := e.path
		r.emits = append(r.emits, func() { decided(path) })
	}
}

// stampOf returns the stamp of a recorded decision, or nil.
func stampOf(rec *journal.Record) *stamp {
	if rec.By == nil && rec.WallTime == 0 {
		return nil
	}
	return &stamp{rec.By, rec.WallTime}
}

// reportDecision calls Options.OnDecision if the record is a decision about effect e, or
// about the run if e is nil.
func (r *run) reportDecision(rec *journal.Record, e *effect) {
	if r.o.OnDecision != nil && (e == nil || e.class == journal.Question || rec.By != nil || rec.Status == journal.Skipped || rec.Kind == journal.Answer) {
		r.callOnDecision(*rec, e)
	}
}

// callOnDecision is separate so that records without decisions stay off the heap.
func (r *run) callOnDecision(rec journal.Record, e *effect) {
	d := Decision{Record: &rec}
	if e != nil {
		d.Class, d.Request = e.class, e.request
	}
	r.o.OnDecision(d)
}

// writeKey is the context key of a write in its Perform.
type writeKey struct{}

// midAnswer is an answer given during a write.
type midAnswer struct {
	effect *effect
	given  Given
	ticket chan *journal.Ticket
	denied chan error // from Options.Permit
}

// errNotInWrite is returned for a context that does not come from a write.
var errNotInWrite = errors.New("kernel: no write is under way")

// RecordAnswer journals a human's answer during the Perform of the write that received
// ctx. It returns once the answer is durable.
func RecordAnswer(ctx context.Context, given Given) error {
	e, ok := ctx.Value(writeKey{}).(*effect)
	if !ok {
		return errNotInWrite
	}
	n := &midAnswer{e, given, make(chan *journal.Ticket, 1), make(chan error, 1)}
	e.run.mu.Lock()
	e.run.midAnswers = append(e.run.midAnswers, n)
	e.run.mu.Unlock()
	e.run.world.Wake()
	select {
	case t := <-n.ticket:
		return t.Wait()
	case err := <-n.denied:
		return err
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// journalMidAnswers journals the pending answers. held marks them as given while the
// session stops.
func (r *run) journalMidAnswers(held bool) error {
	r.mu.Lock()
	notes := r.midAnswers
	r.midAnswers = nil
	r.mu.Unlock()
	if len(notes) == 0 {
		return nil
	}
	permitted := notes[:0]
	for _, n := range notes {
		stamp, err := r.permitted(Proposal{Path: n.effect.path, Answer: n.given.Body, By: n.given.By})
		if err != nil {
			n.denied <- err
			continue
		}
		permitted = append(permitted, n)
		rec := stamp.applyTo(journal.Record{Kind: journal.Answer, Path: n.effect.path, Body: n.given.Body, Deferred: held})
		r.add(rec)
		r.reportDecision(&rec, n.effect)
	}
	t, err := r.flush()
	if err != nil {
		return err
	}
	for _, n := range permitted {
		n.ticket <- t
	}
	return nil
}
