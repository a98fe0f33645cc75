package kernel

import "errors"

// Parallel runs n branches, one at a time, each in its own child scope, and waits for all
// of them. It joins their errors.
func (s *Scope) Parallel(n int, name func(int) string, f func(int, *Scope) error) error {
	r, me := s.activeRun(), s.b
	if n == 0 {
		return nil
	}
	me.children, me.running = make([]*branch, n), n
	for i := range n {
		me.children[i] = r.spawn(me, s.Child(name(i)), func(c *Scope) error { return f(i, c) })
	}
	me.park()
	errs := make([]error, n)
	for i, b := range me.children {
		errs[i] = b.err
	}
	me.children = nil
	return errors.Join(errs...)
}

// condition is a branch that waits for a condition.
type condition struct {
	b     *branch
	scope *Scope
	holds func() bool
	cut   error
}

// Await blocks the branch until cond returns true. It is evaluated whenever all branches
// wait, in the order of the Await calls. It may only read state shared by branches.
func (s *Scope) Await(cond func() bool) error {
	r := s.activeRun()
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

// nextAwaiting removes and returns the first branch whose condition holds, or nil.
func (r *run) nextAwaiting() *branch {
	for i, c := range r.conds {
		if c.holds() {
			r.conds = append(r.conds[:i], r.conds[i+1:]...)
			return c.b
		}
	}
	return nil
}
