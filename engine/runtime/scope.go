package runtime

import (
	"encoding/json"
	"errors"
	"strconv"
	"time"

	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/kernel"
	"github.com/pexctl/pex/engine/stop"
	"github.com/pexctl/pex/engine/tracecontext"
)

// scope implements engine.Scope on the kernel.
type scope struct {
	k *kernel.Scope
	r *run
}

var _ engine.Scope = (*scope)(nil)

// Child implements Scope.
func (s *scope) Child(name string) engine.Scope { return s.child(name) }

func (s *scope) child(name string) *scope {
	c := &struct { // one allocation for both scopes
		scope
		kernel kernel.Scope
	}{}
	s.k.InitChild(&c.kernel, name)
	c.scope = scope{&c.kernel, s.r}
	return &c.scope
}

// Nth implements Scope.
func (s *scope) Nth(name string) string {
	s.r.counts[name]++
	return name + "." + strconv.Itoa(s.r.counts[name])
}

// Omits implements Scope.
func (s *scope) Omits(name string) bool { return s.k.Omits(name) }

// Path implements Scope.
func (s *scope) Path() string { return s.k.Path() }

// ID implements Scope.
func (s *scope) ID(name string) string { return s.k.ID(name) }

// Now implements Scope.
func (s *scope) Now() time.Duration { return s.k.Now() }

// Sleep implements Scope.
func (s *scope) Sleep(name string, d time.Duration) error {
	if err := s.halted(); err != nil {
		return err
	}
	return s.k.Sleep(name, d)
}

// Await implements Scope.
func (s *scope) Await(cond func() bool) error { return s.k.Await(cond) }

// Parallel implements Scope.
func (s *scope) Parallel(n int, name func(int) string, f func(int, engine.Scope) error) error {
	return s.parallel(n, name, func(i int, s *scope) error { return f(i, s) })
}

func (s *scope) parallel(n int, name func(int) string, f func(int, *scope) error) error {
	return s.k.Parallel(n, name, func(i int, k *kernel.Scope) error { return f(i, &scope{k, s.r}) })
}

// Timeout implements Scope.
func (s *scope) Timeout(name string, d time.Duration, f func(engine.Scope) error) error {
	return s.timeout(name, d, func(s *scope) error { return f(s) })
}

func (s *scope) timeout(name string, d time.Duration, f func(*scope) error) error {
	if d <= 0 {
		return f(s)
	}
	return s.k.Timeout(name, d, func(k *kernel.Scope) error { return f(&scope{k, s.r}) })
}

// withinDuration runs f within limits.max_duration minus the finalizer's share, extended
// if the limit is raised on resume.
func (s *scope) withinDuration(f func(*scope) error) error {
	r := s.r
	if r.program.Limits.MaxDuration <= 0 {
		return f(s)
	}
	left := func() time.Duration {
		return r.program.Limits.MaxDuration - r.program.Limits.FinalizeTime() - s.k.Now()
	}
	again := func() (time.Duration, bool) {
		over := s.Exceeded(func(l engine.Limits) bool { return l.MaxDuration > 0 && left() <= 0 })
		if over || r.program.Limits.MaxDuration <= 0 {
			return 0, !over
		}
		return left(), true
	}
	return s.k.Deadline("", left(), again, func(k *kernel.Scope) error { return f(&scope{k, r}) })
}

// View implements Scope.
func (s *scope) View() engine.View {
	v := engine.View{
		Program: s.r.program, State: s.r.state, Tools: s.r.infos, Started: s.r.started,
		Elapsed: s.k.Now(), Files: s.r.input.Files, Conversation: s.r.opts.Conversation,
	}
	v.InFlight = s.r.inFlight
	if s.r.parent != nil {
		v.State.UserMessages = s.r.root().state.UserMessages
	}
	if s.r.finalizing {
		v.Stop = &s.r.reason
	}
	return v
}

// Record implements Scope.
func (s *scope) Record(f engine.Fact) {
	if said, ok := f.(engine.MessagesAdded); ok {
		if !s.r.opts.Conversation {
			return
		}
		said.Path = s.Path()
		f = said
	}
	s.r.state.Add(f)
	if s.r.traced() {
		s.r.trace(Recorded{f})
	}
	switch f := f.(type) {
	case engine.ModelCalled, engine.Embedded:
		s.r.addUsage(f)
		s.r.chargeParents(f)
	case engine.ToolCalled, engine.WarningAdded:
		s.r.chargeParents(f)
	case engine.MessagesSeen:
		for p := s.r.parent; p != nil; p = p.parent {
			p.state.Add(engine.MessagesSeen{Count: f.Count})
		}
	case engine.Answered:
		s.r.lastReplies.recordAnswer(s, f.Answer)
	}
	if s.r.emit.enabled() {
		s.emitFact(f)
	}
}

// halted returns the error that ends the branches of a stopping run.
func (s *scope) halted() error {
	if s.r.stopping != nil && !s.r.finalizing {
		return s.r.stopping
	}
	return nil
}

// outgoing returns the trace that the named effect carries, and the path of its span. Both are
// zero if there is none.
func (s *scope) outgoing(name string) (t *tracecontext.Run, span string) {
	if t = s.r.root().spans; t != nil {
		span = joinPath(s.Path(), name)
	}
	return t, span
}

// boundary ends a phase of a node that only computes, such as rendering a prompt or
// parsing a reply. A run that was meanwhile cancelled, stopped, suspended or timed out
// does not start the next phase. See kernel.Scope.Boundary for the name.
func (s *scope) boundary(name ...string) error {
	if err := s.halted(); err != nil {
		return err
	}
	return s.k.Boundary(name...)
}

// stop ends the run: it cuts all waits of the walk, including this branch.
func (s *scope) stop(e *stop.Error) error { return s.r.halt(e) }

func (r *run) halt(e *stop.Error) error {
	if r.stopping == nil {
		r.stopping = e
		r.walkScope.Cancel(e)
	}
	return r.stopping
}

// Fits implements Scope.
func (s *scope) Fits(tool string, args json.RawMessage) error {
	t, ok := s.r.tools[tool]
	if !ok {
		return errors.New(s.r.unknownTool(tool))
	}
	_, _, err := t.arguments(s, args)
	return err
}

// chargeParents adds the usage of a nested run to its parents.
func (r *run) chargeParents(f engine.Fact) {
	for r = r.parent; r != nil; r = r.parent {
		r.state.Add(f)
		r.addUsage(f)
	}
}

// addUsage adds usage by LLM. It is not part of the state, which would be copied on every
// call.
func (r *run) addUsage(f engine.Fact) {
	switch f := f.(type) {
	case engine.ModelCalled:
		r.usageByLLM[f.Model] = r.usageByLLM[f.Model].Plus(engine.ModelUsage{ModelCalls: 1, Tokens: f.Tokens, CostUSD: f.Cost, LatencyMS: engine.Milliseconds(f.Latency)})
	case engine.Embedded:
		r.usageByLLM[f.Model] = r.usageByLLM[f.Model].Plus(engine.ModelUsage{ModelCalls: 0, Tokens: f.Tokens, CostUSD: f.Cost})
	}
}
