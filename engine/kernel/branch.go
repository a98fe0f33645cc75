package kernel

import "iter"

// branch is a coroutine. The first branch has no yield: it runs the scheduler itself
// while it waits.
type branch struct {
	run      *run
	parent   *branch
	children []*branch
	running  int // children still running
	next     func() (struct{}, bool)
	stop     func()
	yield    func(struct{}) bool
	err      error
}

// unwinding is the panic value that unwinds a branch when the session ends.
type unwinding struct{}

func (r *run) spawn(parent *branch, s *Scope, f func(*Scope) error) *branch {
	b := &branch{run: r, parent: parent}
	s.b = b
	b.next, b.stop = iter.Pull(func(yield func(struct{}) bool) {
		b.yield = yield
		defer func() {
			if p := recover(); p != nil {
				r.recovered(p)
			}
		}()
		b.err = f(s)
	})
	r.ready.push(b)
	return b
}

// park blocks the branch until it is ready, or unwinds it.
func (b *branch) park() {
	if b.yield == nil {
		b.run.schedule()
		return
	}
	if !b.yield(struct{}{}) {
		panic(unwinding{})
	}
}

// unwind ends a branch and its children.
func (b *branch) unwind() {
	if b == nil {
		return
	}
	for _, k := range b.children {
		k.unwind()
	}
	if b.stop != nil {
		b.stop()
	}
}

// schedule runs each ready branch until it waits, then delivers one event, and repeats
// until the first branch is ready.
func (r *run) schedule() {
	for {
		if r.interrupting > 0 {
			if err := r.interrupt(); err != nil {
				r.fail(err)
			}
		}
		b := r.ready.pop()
		if b == nil {
			b = r.nextAwaiting()
		}
		if b == r.root && b != nil {
			r.cur = b
			return
		}
		if b == nil {
			r.cur = nil
			if err := r.deliver(); err != nil {
				r.fail(err)
			}
			continue
		}
		r.resume(b)
	}
}

func (r *run) resume(b *branch) {
	r.cur = b
	_, waits := b.next()
	r.cur = nil
	if r.fatal != nil {
		panic(unwinding{})
	}
	if waits {
		return
	}
	if b.parent.running--; b.parent.running == 0 {
		r.ready.push(b.parent)
	}
}

// deliver delivers one event: the next of the journal, or else a live one.
func (r *run) deliver() error {
	if r.pos < len(r.replay) {
		return r.deliverRecorded()
	}
	return r.deliverLive()
}

// queue holds the ready branches, first in, first out.
type queue struct {
	branches []*branch
	head     int
}

func (q *queue) push(b *branch) { q.branches = append(q.branches, b) }

func (q *queue) pop() *branch {
	if q.head == len(q.branches) {
		return nil
	}
	b := q.branches[q.head]
	q.branches[q.head] = nil
	if q.head++; q.head == len(q.branches) {
		q.branches, q.head = q.branches[:0], 0
	}
	return b
}
