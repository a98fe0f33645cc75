package kernel

import (
	"time"

	"github.com/pexctl/pex/engine/journal"
)

// Sleep waits for d of active time: the time between two sessions costs nothing.
func (s *Scope) Sleep(name string, d time.Duration) error {
	if err := s.cutBy(); err != nil {
		return err
	}
	e := &effect{class: journal.Timer, delay: d}
	s.issue(e, name, intent{})
	s.b.park()
	return e.cut
}

// Timeout runs f in a child scope. When d of active time passes first, every
// wait below that scope ends with ErrTimeout, except for a write under way.
// The record of the timer is the decision: a re-run decides the same.
func (s *Scope) Timeout(name string, d time.Duration, f func(*Scope) error) error {
	if err := s.cutBy(); err != nil {
		return err
	}
	c := s.Child(name)
	r := s.running()
	e := &effect{class: journal.Timer, delay: d, fire: func() { r.cut(c, ErrTimeout) }}
	s.issue(e, join(name, "timer"), intent{})
	err := f(c)
	if !e.gone && !r.over {
		r.close(e) // f came first: no record says so, and none is needed
	}
	if err == nil {
		err = c.cut
	}
	return err
}

// active is the active time of the run now.
func (r *run) active() time.Duration {
	return r.base + r.o.Clock() - r.clock0
}

// advance sets the time that node code sees.
func (r *run) advance() {
	if !r.o.Virtual {
		r.now = max(r.now, r.active())
	}
}
