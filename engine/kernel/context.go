package kernel

import (
	"context"
	"sync"

	"github.com/pexctl/pex/engine/journal"
)

// effectContext is the context in which an effect is performed. It has the values of the
// session's context and ends when nothing waits for the effect any more; every effect is
// closed before the session's context ends. Other contexts made from it need no goroutine,
// since it has AfterFunc.
type effectContext struct {
	context.Context
	e     *effect
	mu    sync.Mutex
	done  chan struct{} // made when first asked for
	err   error
	after *afterFunc // the latest, linked to those before it
	first afterFunc  // the earliest, for one allocation instead of two
}

// afterFunc is a function to call when a context ends.
type afterFunc struct {
	c    *effectContext
	f    func()
	next *afterFunc
}

// Done returns a channel that is closed when the context ends.
func (c *effectContext) Done() <-chan struct{} {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.done == nil {
		c.done = make(chan struct{})
		if c.err != nil {
			close(c.done)
		}
	}
	return c.done
}

// Err returns context.Canceled once the context has ended.
func (c *effectContext) Err() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.err
}

// Value returns a value of the session's context, or the write that is performed.
func (c *effectContext) Value(key any) any {
	if _, ok := key.(writeKey); ok && c.e.class == journal.Write {
		return c.e
	}
	return c.Context.Value(key)
}

// AfterFunc calls f on its own goroutine when the context ends; stop prevents that, and
// returns false if it is too late.
func (c *effectContext) AfterFunc(f func()) (stop func() bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.err != nil {
		go f()
		return func() bool { return false }
	}
	a := &c.first
	if a.c != nil {
		a = &afterFunc{}
	}
	*a = afterFunc{c, f, c.after}
	c.after = a
	return a.stop
}

func (a *afterFunc) stop() bool {
	a.c.mu.Lock()
	defer a.c.mu.Unlock()
	for at := &a.c.after; *at != nil; at = &(*at).next {
		if *at == a {
			*at = a.next
			return true
		}
	}
	return false
}

func (c *effectContext) cancel() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.err != nil {
		return
	}
	if c.err = context.Canceled; c.done != nil {
		close(c.done)
	}
	for a := c.after; a != nil; a = a.next {
		go a.f()
	}
	c.after = nil
}
