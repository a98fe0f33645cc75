package kernel

import (
	"github.com/pexctl/pex/engine/failpoint"
	"github.com/pexctl/pex/engine/journal"
)

// batch holds the functions to call once a commit is durable.
type batch struct {
	ticket *journal.Ticket
	emits  []func()
}

// add appends a record to the tick.
func (r *run) add(rec journal.Record) {
	r.seq++
	rec.Seq = r.seq
	rec.Sync = rec.Sync || r.o.Strict
	if rec.Kind != journal.Intent {
		r.advance()
	}
	rec.At = int64(r.now)
	r.observeWall(&rec)
	r.tick = append(r.tick, rec)
	r.unmarked = rec.Kind != journal.Marker
}

// flush appends the tick to the journal and calls the emits that are durable by now.
func (r *run) flush() (*journal.Ticket, error) {
	if len(r.tick) > 0 {
		t, err := r.o.Journal.Append(r.tick)
		if err != nil {
			return nil, &StoreError{err}
		}
		r.stats.Commits++
		clear(r.tick)
		r.tick, r.last = r.tick[:0], t
	}
	if len(r.emits) > 0 {
		r.pendingEmits = append(r.pendingEmits, batch{r.last, r.emits})
		r.emits = nil
	}
	return r.last, r.emitDurable()
}

// settle appends the tick and waits until it is durable and all its emits were called.
func (r *run) settle() error {
	t, err := r.flush()
	if err != nil {
		return err
	}
	if err := t.Wait(); err != nil {
		return &StoreError{err}
	}
	return r.emitDurable()
}

// mark settles a session that stops with every branch waiting. The marker tells a replay
// that everything before it was emitted.
func (r *run) mark() error {
	if r.unmarked {
		r.add(journal.Record{Kind: journal.Marker})
	}
	return r.settle()
}

// emitDurable calls the emits whose commit is durable.
func (r *run) emitDurable() error {
	for len(r.pendingEmits) > 0 && r.pendingEmits[0].ticket.Ready() {
		b := r.pendingEmits[0]
		r.pendingEmits = r.pendingEmits[1:]
		if err := b.ticket.Wait(); err != nil {
			return &StoreError{err}
		}
		failpoint.At(failpoint.EmitBefore)
		for _, f := range b.emits {
			f()
		}
		failpoint.At(failpoint.EmitAfter)
	}
	return nil
}
