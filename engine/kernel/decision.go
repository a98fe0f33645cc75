package kernel

import (
	"context"
	"errors"

	"github.com/pexctl/pex/engine/journal"
)

// stamp says who made a decision, and when.
type stamp struct {
	by   []byte
	wall int64
}

// stamp is that of a decision made now, in this session.
func (r *run) stamp() *stamp { return &stamp{r.o.By, r.o.Wall().UnixNano()} }

// stampOf is that of a recorded decision, nil where the record has none.
func stampOf(rec *journal.Record) *stamp {
	if rec.By == nil && rec.Wall == 0 {
		return nil
	}
	return &stamp{rec.By, rec.Wall}
}

// on puts the stamp on a record; nil leaves it as it is.
func (s *stamp) on(rec journal.Record) journal.Record {
	if s != nil {
		rec.By, rec.Wall = s.by, s.wall
	}
	return rec
}

// decision tells of a record if it is a decision: about an effect, or, where e
// is nil, about the run.
func (r *run) decision(rec *journal.Record, e *effect) {
	if r.o.Decided != nil && (e == nil || e.class == journal.Question || rec.By != nil || rec.Status == journal.Skipped || rec.Kind == journal.Answer) {
		r.announce(*rec, e)
	}
}

// announce is apart, so that records which are no decisions stay off the heap.
func (r *run) announce(rec journal.Record, e *effect) {
	d := Decision{Record: &rec}
	if e != nil {
		d.Class, d.Request = e.class, e.request
	}
	r.o.Decided(d)
}

// underWay is the key of a write in the context of its Perform.
type underWay struct{}

// note is an answer in the middle of an effect.
type note struct {
	effect *effect
	body   []byte
	ticket chan *journal.Ticket
}

// errNotAWrite says that a context is not that of a write.
var errNotAWrite = errors.New("kernel: no write is under way")

// RecordAnswer journals, from within the Perform of a write that got ctx, what
// a person answered meanwhile, as JSON. It returns once that is durable.
func RecordAnswer(ctx context.Context, body []byte) error {
	e, ok := ctx.Value(underWay{}).(*effect)
	if !ok {
		return errNotAWrite
	}
	n := &note{e, body, make(chan *journal.Ticket, 1)}
	e.run.mu.Lock()
	e.run.notes = append(e.run.notes, n)
	e.run.mu.Unlock()
	e.run.rouse()
	select {
	case t := <-n.ticket:
		return t.Wait()
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// note journals the answers that are there; held says that the session stops.
func (r *run) note(held bool) error {
	r.mu.Lock()
	notes := r.notes
	r.notes = nil
	r.mu.Unlock()
	if len(notes) == 0 {
		return nil
	}
	for _, n := range notes {
		rec := r.stamp().on(journal.Record{Kind: journal.Answer, Path: n.effect.path, Body: n.body, Held: held})
		r.add(rec)
		r.decision(&rec, n.effect)
	}
	t, err := r.flush()
	if err != nil {
		return err
	}
	for _, n := range notes {
		n.ticket <- t
	}
	return nil
}
