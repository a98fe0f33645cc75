package kernel

import (
	"github.com/pexctl/pex/engine/failpoint"
	"github.com/pexctl/pex/engine/journal"
)

// batch is what is to be told once a commit is durable.
type batch struct {
	ticket *journal.Ticket
	emits  []func()
}

// add puts a record into the tick.
func (r *run) add(rec journal.Record) {
	r.seq++
	rec.Seq = r.seq
	if rec.Kind != journal.Intent {
		r.advance()
	}
	rec.At = int64(r.now)
	r.tick = append(r.tick, rec)
	r.fresh = rec.Kind != journal.Marker
}

// flush appends the tick, and tells what is durable by now.
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
		r.untold = append(r.untold, batch{r.last, r.emits})
		r.emits = nil
	}
	return r.last, r.tell()
}

// settle appends the tick and waits until all is durable and told.
func (r *run) settle() error {
	t, err := r.flush()
	if err != nil {
		return err
	}
	if err := t.Wait(); err != nil {
		return &StoreError{err}
	}
	return r.tell()
}

// mark settles a session that stops with every branch waiting: behind the
// marker a re-run knows that all before it was told.
func (r *run) mark() error {
	if r.fresh {
		r.add(journal.Record{Kind: journal.Marker})
	}
	return r.settle()
}

// tell calls the emits whose commit is durable.
func (r *run) tell() error {
	for len(r.untold) > 0 && r.untold[0].ticket.Ready() {
		b := r.untold[0]
		r.untold = r.untold[1:]
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
