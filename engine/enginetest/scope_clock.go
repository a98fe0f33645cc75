package enginetest

import (
	"errors"
	"slices"
	"time"
)

// errDeadlock says that every branch waits for another one.
var errDeadlock = errors.New("every branch waits and no effect is open")

// clock runs the branches of a Scope one at a time, in virtual time: a branch runs
// until it waits, then the first one that can go on does. Time passes only when
// none can. The branch that runs owns the clock, so it needs no lock.
type clock struct {
	now    time.Duration
	waits  []*wait // branches that wait, in the order they began to
	timers []*timer
	paths  map[string]bool // of effects: each is used once
}

// wait is a branch that waits.
type wait struct {
	cut   func() error // why it ends early; nil = it does not
	ready func() bool  // nil = when it is due
	due   time.Duration
	wake  chan error
}

// timer is the time of a Timeout.
type timer struct {
	due   time.Duration
	scope *Scope
}

// use notes the path of an effect. A path that is used twice is a defect of the node.
func (c *clock) use(path string) {
	if c.paths[path] {
		panic("path used twice: " + path)
	}
	c.paths[path] = true
}

// wait blocks the branch that runs until w is over.
func (c *clock) wait(w *wait) error {
	w.wake = make(chan error, 1)
	c.waits = append(c.waits, w)
	c.next()
	return <-w.wake
}

// next lets the next branch run.
func (c *clock) next() {
	for len(c.waits) > 0 {
		for i, w := range c.waits {
			if over, err := w.done(c.now); over {
				c.waits = slices.Delete(c.waits, i, i+1)
				w.wake <- err
				return
			}
		}
		if !c.advance() {
			w := c.waits[0]
			c.waits = c.waits[1:]
			w.wake <- errDeadlock
			return
		}
	}
}

// done says whether the branch can go on, and with which error.
func (w *wait) done(now time.Duration) (bool, error) {
	if w.cut != nil {
		if err := w.cut(); err != nil {
			return true, err
		}
	}
	if w.ready != nil {
		return w.ready(), nil
	}
	return w.due <= now, nil
}

// advance moves the time to what is due next: a branch, or a Timeout.
func (c *clock) advance() bool {
	var due []time.Duration
	for _, w := range c.waits {
		if w.ready == nil {
			due = append(due, w.due)
		}
	}
	for _, t := range c.timers {
		due = append(due, t.due)
	}
	if len(due) == 0 {
		return false
	}
	c.now = max(c.now, slices.Min(due))
	c.timers = slices.DeleteFunc(c.timers, func(t *timer) bool {
		if t.due > c.now {
			return false
		}
		t.scope.timeoutErr = timeoutError{}
		return true
	})
	return true
}
