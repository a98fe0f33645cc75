package kernel

import (
	"fmt"
	"time"

	"github.com/pexctl/pex/engine/journal"
)

// Sleep waits for d of active time; the time between sessions does not count.
func (s *Scope) Sleep(name string, d time.Duration) error {
	if err := s.cutBy(); err != nil {
		return err
	}
	e := &effect{class: journal.Timer, layer: LayerTimer, delay: d}
	s.issue(e, name, intent{})
	s.b.park()
	return e.cut
}

// Timeout runs f in a child scope. When d of active time has passed, every wait below
// that scope ends with ErrTimeout, except for writes in flight. The timer's record is the
// decision, so a replay decides the same.
func (s *Scope) Timeout(name string, d time.Duration, f func(*Scope) error) error {
	return s.Deadline(name, d, nil, f)
}

// Bound is a Timeout that leaves the paths of f's effects unchanged; timer is the path of
// the timer below the scope.
func (s *Scope) Bound(timer string, d time.Duration, f func(*Scope) error) error {
	return s.runTimed(&timeout{scope: s.Child(""), name: timer}, d, f)
}

// Deadline is a Timeout that can be extended: when the time has passed, extend (if not
// nil) reports whether f may continue and for how much longer; 0 = without limit.
func (s *Scope) Deadline(name string, d time.Duration, extend func() (more time.Duration, on bool), f func(*Scope) error) error {
	return s.runTimed(&timeout{scope: s.Child(name), name: join(name, "timer"), extend: extend}, d, f)
}

// runTimed runs f in the scope of t.
func (s *Scope) runTimed(t *timeout, d time.Duration, f func(*Scope) error) error {
	if err := s.cutBy(); err != nil {
		return err
	}
	t.run, t.outer = s.activeRun(), s
	t.set(t.name, d)
	err := f(t.scope)
	if !t.timer.closed && !t.run.closed {
		t.run.close(t.timer) // f ended first; a replay needs no record of that
	}
	if err == nil {
		err = t.scope.cut
	}
	return err
}

// timeout is a scope with a bounded time.
type timeout struct {
	run          *run
	outer, scope *Scope
	name         string
	extend       func() (time.Duration, bool)
	timer        *effect
	extended     int
}

func (t *timeout) set(name string, d time.Duration) {
	t.timer = &effect{class: journal.Timer, layer: LayerTimer, delay: d, fire: t.fire, bounds: t.scope}
	t.run.register(t.outer, t.timer, name, intent{})
}

// fire is called when the time has passed.
func (t *timeout) fire() {
	if t.extend != nil {
		if more, on := t.extend(); on {
			if t.extended++; more > 0 {
				t.set(fmt.Sprintf("%s.%d", t.name, t.extended+1), more)
			}
			return
		}
	}
	t.run.cut(t.scope, ErrTimeout)
}

// active returns the active time of the run now.
func (r *run) active() time.Duration {
	return r.base + r.world.Now() - r.clock0
}

// advance updates the time that node code sees.
func (r *run) advance() {
	if !r.o.Virtual {
		r.now = max(r.now, r.active())
	}
}
