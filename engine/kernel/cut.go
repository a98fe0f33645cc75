package kernel

import "github.com/pexctl/pex/engine/journal"

// Cancel ends every wait below the scope with err, in the order in which they started, and
// every later one. Writes in flight are still waited for, since their outcome must be
// known; writes not started yet fail. The first cut of a scope wins.
func (s *Scope) Cancel(err error) {
	if r := s.b.run; !r.closed {
		r.cut(s, err)
	}
}

func (r *run) cut(s *Scope, err error) {
	if s.cutBy() != nil {
		return
	}
	s.cut = err
	for e := r.open.first; e != nil; e = e.next {
		if e.fire != nil || !e.scope.under(s) {
			continue
		}
		if e.class == journal.Write {
			r.cutWrites = true // failUnstarted checks whether it was started
			continue
		}
		e.cut = err
		r.close(e)
		r.ready.push(e.b)
	}
	kept := r.conds[:0]
	for _, c := range r.conds {
		if !c.scope.under(s) {
			kept = append(kept, c)
			continue
		}
		c.cut = err
		r.ready.push(c.b)
	}
	clear(r.conds[len(kept):])
	r.conds = kept
}

// cutBy returns the error of the nearest cut around the scope, or nil.
func (s *Scope) cutBy() error {
	for ; s != nil; s = s.up {
		if s.cut != nil {
			return s.cut
		}
	}
	return nil
}

func (s *Scope) under(t *Scope) bool {
	for ; s != nil; s = s.up {
		if s == t {
			return true
		}
	}
	return false
}
