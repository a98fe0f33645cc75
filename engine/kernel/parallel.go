package kernel

import "errors"

// Parallel runs n branches, one running at a time, and waits for all of them;
// their errors are joined. Each has its own child scope.
func (s *Scope) Parallel(n int, name func(int) string, f func(int, *Scope) error) error {
	r, me := s.running(), s.b
	if n == 0 {
		return nil
	}
	me.kids, me.live = make([]*branch, n), n
	for i := range n {
		me.kids[i] = r.spawn(me, s.Child(name(i)), func(c *Scope) error { return f(i, c) })
	}
	me.park()
	errs := make([]error, n)
	for i, b := range me.kids {
		errs[i] = b.err
	}
	me.kids = nil
	return errors.Join(errs...)
}

// condition is a branch that waits for what other branches do.
type condition struct {
	b     *branch
	scope *Scope
	holds func() bool
	cut   error
}

// Await blocks the branch until cond holds. It is tried whenever all branches
// wait, in the order of the Await calls; it reads what branches share, and
// nothing else.
func (s *Scope) Await(cond func() bool) error {
	r := s.running()
	if err := s.cutBy(); err != nil {
		return err
	}
	if cond() {
		return nil
	}
	c := &condition{b: s.b, scope: s, holds: cond}
	r.conds = append(r.conds, c)
	s.b.park()
	return c.cut
}

// awakened is the first branch whose condition holds, or nil.
func (r *run) awakened() *branch {
	for i, c := range r.conds {
		if c.holds() {
			r.conds = append(r.conds[:i], r.conds[i+1:]...)
			return c.b
		}
	}
	return nil
}
