package kernel

import (
	"fmt"
	"time"

	"github.com/pexctl/pex/engine/journal"
)

// Sleep waits for d of active time: the time between two sessions costs nothing.
func (s *Scope) Sleep(name string, d time.Duration) error {
	if err := s.cutBy(); err != nil {
		return err
	}
	e := &effect{class: journal.Timer, layer: LayerTimer, delay: d}
	s.issue(e, name, intent{})
	s.b.park()
	return e.cut
}

// Timeout runs f in a child scope. When d of active time passes first, every
// wait below that scope ends with ErrTimeout, except for a write under way.
// The record of the timer is the decision: a re-run decides the same.
func (s *Scope) Timeout(name string, d time.Duration, f func(*Scope) error) error {
	return s.Deadline(name, d, nil, f)
}

// Bound is a Timeout that adds nothing to the path of what f does; the timer has
// the path timer below the scope.
func (s *Scope) Bound(timer string, d time.Duration, f func(*Scope) error) error {
	return s.timed(&timeout{scope: s.Child(""), name: timer}, d, f)
}

// Deadline is a Timeout of which again, if not nil, has the last word: it is
// called when the time has passed, and says whether f may go on all the same
// and for how much longer; 0 = as long as it takes.
func (s *Scope) Deadline(name string, d time.Duration, again func() (more time.Duration, on bool), f func(*Scope) error) error {
	return s.timed(&timeout{scope: s.Child(name), name: join(name, "timer"), again: again}, d, f)
}

// timed runs f in the scope of t.
func (s *Scope) timed(t *timeout, d time.Duration, f func(*Scope) error) error {
	if err := s.cutBy(); err != nil {
		return err
	}
	t.run, t.outer = s.running(), s
	t.set(t.name, d)
	err := f(t.scope)
	if !t.timer.gone && !t.run.over {
		t.run.close(t.timer) // f came first: no record says so, and none is needed
	}
	if err == nil {
		err = t.scope.cut
	}
	return err
}

// timeout is a scope whose time is bounded.
type timeout struct {
	run          *run
	outer, scope *Scope
	name         string
	again        func() (time.Duration, bool)
	timer        *effect
	extended     int
}

func (t *timeout) set(name string, d time.Duration) {
	t.timer = &effect{class: journal.Timer, layer: LayerTimer, delay: d, fire: t.fire, bounds: t.scope}
	t.run.enter(t.outer, t.timer, join(t.outer.path, name), intent{})
}

// fire is called when the time has passed.
func (t *timeout) fire() {
	if t.again != nil {
		if more, on := t.again(); on {
			if t.extended++; more > 0 {
				t.set(fmt.Sprintf("%s.%d", t.name, t.extended+1), more)
			}
			return
		}
	}
	t.run.cut(t.scope, ErrTimeout)
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
