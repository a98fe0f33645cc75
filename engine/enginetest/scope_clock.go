package enginetest

import (
	"errors"
	"slices"
	"time"
)

// errDeadlock reports that all branches wait for each other.
var errDeadlock = errors.New("deadlock: every branch waits and no effect is in flight")

// clock runs the branches of a Scope one at a time, in virtual time: a branch runs until
// it waits, then the first branch that can continue runs. Time advances only if none can.
// The running branch owns the clock, so it needs no lock.
type clock struct {
	now    time.Duration
	waits  []*wait // waiting branches, in the order they started to wait
	timers []*timer
	paths  map[string]bool // paths of effects, which must be unique
}

// wait is a waiting branch.
type wait struct {
	cut   func() error // returns the error that ends the wait early, or nil
	ready func() bool  // reports whether the wait is over; nil = at due
	due   time.Duration
	wake  chan error
}

// timer is the timer of a Timeout.
type timer struct {
	due   time.Duration
	scope *Scope
}

// use records the path of an effect. It panics if the path was used before, which is a
// bug in the node.
func (c *clock) use(path string) {
	if c.paths[path] {
		panic("path used twice: " + path)
	}
	c.paths[path] = true
}

// wait blocks the running branch until w is over.
func (c *clock) wait(w *wait) error {
	w.wake = make(chan error, 1)
	c.waits = append(c.waits, w)
	c.next()
	return <-w.wake
}

// next resumes the next branch.
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

// done reports whether the branch can continue, and with which error.
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

// advance moves the time to the next due branch or Timeout.
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
