package engine

import (
	"encoding/json"
	"errors"
	"strconv"
	"time"

	"github.com/pexctl/pex/engine/kernel"
)

// Scope is what a node touches the world with: models, tools, people, time and
// branches, each a journaled effect with a path below the scope's own. It
// belongs to one branch of one run.
type Scope struct {
	k *kernel.Scope
	r *run
}

// Child is a scope with a longer path in the same branch.
func (s *Scope) Child(name string) *Scope { return &Scope{s.k.Child(name), s.r} }

// Nth numbers what a run does more than once: "plan.1", "plan.2", ...
func (s *Scope) Nth(name string) string {
	s.r.counts[name]++
	return name + "." + strconv.Itoa(s.r.counts[name])
}

// Omits says that the rest of the run's journal has no effect below a name: the
// version of this program that wrote it made none there.
func (s *Scope) Omits(name string) bool { return s.k.Omits(name) }

// Path is the scope's effect path.
func (s *Scope) Path() string { return s.k.Path() }

// ID is a stable id, a hash of run, path and name: no effect.
func (s *Scope) ID(name string) string { return s.k.ID(name) }

// Now is the active time of the run at the last delivered record: no effect.
func (s *Scope) Now() time.Duration { return s.k.Now() }

// Sleep waits, durably.
func (s *Scope) Sleep(name string, d time.Duration) error {
	if err := s.halted(); err != nil {
		return err
	}
	return s.k.Sleep(name, d)
}

// Await blocks this branch until cond holds; cond reads what branches share.
func (s *Scope) Await(cond func() bool) error { return s.k.Await(cond) }

// Parallel runs n branches side by side, one at a time between effects, and
// waits for all of them; their errors are joined.
func (s *Scope) Parallel(n int, name func(int) string, f func(int, *Scope) error) error {
	return s.k.Parallel(n, name, func(i int, k *kernel.Scope) error { return f(i, &Scope{k, s.r}) })
}

// Timeout runs f; when d of active time passes first, every wait below ends
// with kernel.ErrTimeout. Zero is no timeout. A write in flight is not cut.
func (s *Scope) Timeout(name string, d time.Duration, f func(*Scope) error) error {
	if d <= 0 {
		return f(s)
	}
	return s.k.Timeout(name, d, func(k *kernel.Scope) error { return f(&Scope{k, s.r}) })
}

// inTime runs f within limits.max_duration less what the finalizer needs, and for longer where whoever
// resumed the run gave it more.
func (s *Scope) inTime(f func(*Scope) error) error {
	r := s.r
	if r.program.Limits.MaxDuration <= 0 {
		return f(s)
	}
	left := func() time.Duration { return r.program.Limits.MaxDuration - r.program.Limits.closing() - s.k.Now() }
	again := func() (time.Duration, bool) {
		over := s.Exceeded(func(l Limits) bool { return l.MaxDuration > 0 && left() <= 0 })
		if over || r.program.Limits.MaxDuration <= 0 {
			return 0, !over
		}
		return left(), true
	}
	return s.k.Deadline("", left(), again, func(k *kernel.Scope) error { return f(&Scope{k, r}) })
}

// TimedOut says that err is the end of a Timeout's time.
func TimedOut(err error) bool { return isTimeout(err) }

// View is what the run knows now.
func (s *Scope) View() View {
	v := View{
		Program: s.r.program, State: s.r.state, Tools: s.r.infos, Started: s.r.started,
		Elapsed: s.k.Now(), Files: s.r.input.Files,
	}
	v.inFlight = s.r.inFlight
	if s.r.closing {
		v.Stop = &s.r.reason
	}
	return v
}

// Record says what happened: the state takes it over at once, and whoever
// watches is told when it is durable.
func (s *Scope) Record(f Fact) {
	if said, ok := f.(Said); ok {
		if !s.r.opts.Conversation {
			return
		}
		said.Path = s.Path()
		f = said
	}
	s.r.state = s.r.state.Apply(f)
	if s.r.traced() {
		s.r.trace(Recorded{f})
	}
	switch f := f.(type) {
	case ModelCalled, Embedded:
		s.r.spend(f)
		s.r.chargeParents(f)
	case ToolCalled, Warned:
		s.r.chargeParents(f)
	case Answered:
		s.r.spoken.answered(s, f.Answer)
	}
	if s.r.emit.on() {
		s.tell(f)
	}
}

// halted is the error that ends a stopping run's branches.
func (s *Scope) halted() error {
	if s.r.stopping != nil && !s.r.closing {
		return s.r.stopping
	}
	return nil
}

// boundary ends a phase of a node that only computes, such as rendering a prompt
// or reading a reply: a run that was cancelled, stopped or suspended meanwhile, or
// whose time is over, begins no other. See kernel.Scope.Boundary for the name.
func (s *Scope) boundary(name ...string) error {
	if err := s.halted(); err != nil {
		return err
	}
	return s.k.Boundary(name...)
}

// stop ends the run: every wait of the walk ends, and so does this branch.
func (s *Scope) stop(e *StopError) error { return s.r.halt(e) }

func (r *run) halt(e *StopError) error {
	if r.stopping == nil {
		r.stopping = e
		r.walk.Cut(e)
	}
	return r.stopping
}

// Fits checks arguments against a tool's schema without calling it.
func (s *Scope) Fits(tool string, args json.RawMessage) error {
	t, ok := s.r.tools[tool]
	if !ok {
		return errors.New(s.r.unknownTool(tool))
	}
	_, _, err := t.arguments(s, args)
	return err
}

// chargeParents books on the parents what a nested agent consumes.
func (r *run) chargeParents(f Fact) {
	for r = r.parent; r != nil; r = r.parent {
		r.state = r.state.Apply(f)
		r.spend(f)
	}
}

// spend books what an llm took on it; kept beside the state, which would have to
// copy it at every call.
func (r *run) spend(f Fact) {
	switch f := f.(type) {
	case ModelCalled:
		r.spent[f.Model] = r.spent[f.Model].plus(ModelUsage{1, f.Tokens, f.Cost})
	case Embedded:
		r.spent[f.Model] = r.spent[f.Model].plus(ModelUsage{0, f.Tokens, f.Cost})
	}
}
