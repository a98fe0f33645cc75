package kernel

import (
	"strings"

	"github.com/pexctl/pex/engine/journal"
)

// yieldName is the last path element of an effect that only yields.
const yieldName = "yield"

// Boundary ends a phase that only computes. If meanwhile a Timeout around the scope
// expired, the run was cancelled or the session is to be suspended, the branch waits
// until that is delivered, and Boundary returns the error that ends every wait. Otherwise
// it does nothing and writes no record. The name, one or more path elements, must be
// unique among the boundaries of a scope.
func (s *Scope) Boundary(name ...string) error {
	if err := s.cutBy(); err != nil {
		return err
	}
	return s.yield(s.activeRun().o.Cancel, name...)
}

// yield parks the branch if something must be delivered before it continues: an expired
// Timeout, the end of the session, or a close of cancel. It waits for a journaled effect,
// so a replay yields at the same place.
func (s *Scope) yield(cancel <-chan struct{}, name ...string) error {
	r := s.activeRun()
	yields, err := r.mustYield(s, name, cancel)
	if err != nil {
		r.fail(err)
	}
	if !yields {
		return nil
	}
	e := &effect{class: journal.Timer, layer: LayerTimer, yields: true}
	r.yielding = append(r.yielding, e)
	s.issue(e, yieldPath(name), intent{})
	s.b.park()
	return e.cut
}

func yieldPath(name []string) string { return strings.Join(name, "/") + "/" + yieldName }

// mustYield reports whether a branch has to yield: in a replay if the journal says so,
// else if something happened.
func (r *run) mustYield(s *Scope, name []string, cancel <-chan struct{}) (bool, error) {
	if r.o.Follow != nil && r.pos == len(r.replay) {
		if _, err := r.loadMore(); err != nil {
			return false, err
		}
	}
	if r.pos < len(r.replay) {
		rec := &r.replay[r.pos]
		return rec.Kind == journal.Intent && rec.Class == journal.Timer && strings.HasSuffix(rec.Path, yieldName) &&
			rec.Path == join(s.Path(), yieldPath(name)), nil
	}
	if r.o.Follow != nil {
		return false, nil
	}
	return r.outer.Err() != nil || isClosed(cancel) || r.expiredTimeout(s) != nil, nil
}

// expiredTimeout returns the first expired and undelivered timer of a Timeout around s,
// or nil. Its AfterFunc may be late, or not set if the branch has not waited since.
func (r *run) expiredTimeout(s *Scope) *effect {
	if r.o.Virtual {
		return nil
	}
	for e := r.open.first; e != nil; e = e.next {
		if e.fire != nil && s.under(e.bounds) && e.due <= r.active() {
			return e
		}
	}
	return nil
}

// deliverYield delivers the expired timers that a branch yields to, one at a time; after
// the last one the branch continues. It returns false if no branch yields.
func (r *run) deliverYield() (bool, error) {
	for len(r.yielding) > 0 && r.yielding[0].closed {
		r.yielding = r.yielding[1:]
	}
	if len(r.yielding) == 0 {
		return false, nil
	}
	if r.outer.Err() != nil {
		return true, r.suspend()
	}
	if e := r.expiredTimeout(r.yielding[0].scope); e != nil {
		r.record(e, Outcome{})
		return true, nil
	}
	r.record(r.yielding[0], Outcome{})
	return true, nil
}
