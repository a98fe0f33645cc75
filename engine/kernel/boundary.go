package kernel

import (
	"strings"

	"github.com/pexctl/pex/engine/journal"
)

// yieldName is the last element of the path of an effect that only yields.
const yieldName = "yield"

// Boundary ends a phase that only computes. Where a Timeout around the scope
// has expired meanwhile, the run is cancelled or the session is to be suspended,
// the branch waits until that is delivered, and the error is the one that ends
// every wait. Else Boundary does nothing and no record is made. The name, one or
// more path elements, is unique among the boundaries of a scope.
func (s *Scope) Boundary(name ...string) error {
	if err := s.cutBy(); err != nil {
		return err
	}
	return s.yield(s.running().o.Cancel, name...)
}

// yield parks the branch if something happened that must be delivered before
// it continues: an expired Timeout, the end of the session, or a close of
// cancel. The effect that it waits for is journaled, so a re-run yields at the
// same place.
func (s *Scope) yield(cancel <-chan struct{}, name ...string) error {
	r := s.running()
	yields, err := r.yields(s, name, cancel)
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

// yields says whether a branch has to yield: in a re-run what the journal says,
// live whether something happened.
func (r *run) yields(s *Scope, name []string, cancel <-chan struct{}) (bool, error) {
	if r.o.More != nil && r.pos == len(r.replay) {
		if _, err := r.extend(); err != nil {
			return false, err
		}
	}
	if r.pos < len(r.replay) {
		rec := &r.replay[r.pos]
		return rec.Kind == journal.Intent && rec.Class == journal.Timer && strings.HasSuffix(rec.Path, yieldName) &&
			rec.Path == join(s.path, yieldPath(name)), nil
	}
	if r.o.More != nil {
		return false, nil
	}
	select {
	case <-r.outer.Done():
		return true, nil
	case <-cancel:
		return true, nil
	default:
		return r.overdue(s) != nil, nil
	}
}

// overdue is the first timer of a Timeout around s that has expired and was not
// delivered, or nil. Its AfterFunc may be late, and was not even set where the
// branch did not wait since.
func (r *run) overdue(s *Scope) *effect {
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

// yielded delivers the expired timers that a branch yields to, one at a time;
// behind the last one the branch continues. It reports false where no branch
// yields.
func (r *run) yielded() (bool, error) {
	for len(r.yielding) > 0 && r.yielding[0].gone {
		r.yielding = r.yielding[1:]
	}
	if len(r.yielding) == 0 {
		return false, nil
	}
	if r.outer.Err() != nil {
		return true, r.suspend()
	}
	if e := r.overdue(r.yielding[0].scope); e != nil {
		r.record(e, outcome{})
		return true, nil
	}
	r.record(r.yielding[0], outcome{})
	return true, nil
}
