package enginetest

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"slices"
	"strconv"
	"time"

	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/model"
	"github.com/pexctl/pex/engine/stop"
)

// Scope is an in-memory engine.Scope to test a node: without a journal or events, and in
// virtual time. It calls the models and tools of a Host directly, without retries, budgets
// or redaction; tools that ask humans or run agents are called like any other. It must be
// used by one goroutine at a time: that of the test or of the running branch.
//
//	s := enginetest.NewScope(ctx, program, engine.Input{}, host)
//	err := node.Run(s)
//	s.View().State // what the node recorded
type Scope struct {
	r          *fakeRun
	parent     *Scope
	path       string
	timeoutErr error // ends every wait below
}

var _ engine.Scope = (*Scope)(nil)

// fakeRun is a run of one program. The run of an agent has a parent.
type fakeRun struct {
	ctx     context.Context
	program *engine.Program
	host    engine.Host
	input   engine.Input
	state   engine.State
	facts   []engine.Fact
	counts  map[string]int // by name: see Nth
	calls   map[string]int // of models, by role
	running []*engine.ToolCalled
	end     *stop.Error // once the run is stopping
	top     *Scope
	parent  *fakeRun
	clock   *clock
}

// NewScope returns the top scope of a run of p. Its effects receive ctx. The RunID
// defaults to "run".
func NewScope(ctx context.Context, p *engine.Program, in engine.Input, h engine.Host) *Scope {
	if in.RunID == "" {
		in.RunID = "run"
	}
	return newFakeRun(&fakeRun{ctx: ctx, program: p, input: in, host: h, clock: &clock{paths: map[string]bool{}}}, "")
}

func newFakeRun(r *fakeRun, path string) *Scope {
	r.counts, r.calls = map[string]int{}, map[string]int{}
	r.state.Parameters = r.input.Parameters
	r.state.Question, _ = r.input.Parameters["question"].(string)
	r.top = &Scope{r: r, path: path}
	return r.top
}

// Facts returns the facts recorded so far, in order.
func (s *Scope) Facts() []engine.Fact { return slices.Clone(s.r.facts) }

// Child implements engine.Scope.
func (s *Scope) Child(name string) engine.Scope { return s.child(name) }

func (s *Scope) child(name string) *Scope {
	return &Scope{r: s.r, parent: s, path: joinPath(s.path, name)}
}

func joinPath(a, b string) string {
	if a == "" || b == "" {
		return a + b
	}
	return a + "/" + b
}

// Path implements engine.Scope.
func (s *Scope) Path() string { return s.path }

// ID implements engine.Scope.
func (s *Scope) ID(name string) string {
	root := s.r
	for root.parent != nil {
		root = root.parent
	}
	sum := sha256.Sum256([]byte(root.input.RunID + "\x00" + s.path + "\x00" + name))
	return hex.EncodeToString(sum[:16])
}

// Nth implements engine.Scope.
func (s *Scope) Nth(name string) string {
	s.r.counts[name]++
	return name + "." + strconv.Itoa(s.r.counts[name])
}

// Now implements engine.Scope.
func (s *Scope) Now() time.Duration { return s.r.clock.now }

// Omits implements engine.Scope: there is no journal of an earlier version.
func (s *Scope) Omits(string) bool { return false }

// View implements engine.Scope.
func (s *Scope) View() engine.View {
	v := engine.View{
		Program: s.r.program, State: s.r.state, Files: s.r.input.Files, Started: time.Unix(0, 0).UTC(),
		Elapsed: s.r.clock.now, InFlight: s.r.running, Conversation: true,
	}
	for i := range s.r.host.Tools {
		v.Tools = append(v.Tools, s.r.host.Tools[i].Info())
	}
	return v
}

// Record implements engine.Scope. The usage of an agent also counts for its callers.
func (s *Scope) Record(f engine.Fact) {
	if m, ok := f.(engine.MessagesAdded); ok {
		m.Path = s.path
		f = m
	}
	s.r.facts = append(s.r.facts, f)
	s.r.state = s.r.state.Apply(f)
	switch f.(type) {
	case engine.ModelCalled, engine.Embedded, engine.ToolCalled, engine.WarningAdded:
		for r := s.r.parent; r != nil; r = r.parent {
			r.state = r.state.Apply(f)
		}
	}
}

// Exceeded implements engine.Scope. Limits are never raised.
func (s *Scope) Exceeded(over func(engine.Limits) bool) bool { return over(s.r.program.Limits) }

// Await implements engine.Scope.
func (s *Scope) Await(cond func() bool) error {
	if err := s.haltError(); err != nil || cond() {
		return err
	}
	return s.r.clock.wait(&wait{cut: s.haltError, ready: cond})
}

// Sleep implements engine.Scope.
func (s *Scope) Sleep(name string, d time.Duration) error { return s.effect(name, d) }

// effect waits until an effect that takes d has finished.
func (s *Scope) effect(name string, d time.Duration) error {
	if err := s.haltError(); err != nil {
		return err
	}
	c := s.r.clock
	c.use(joinPath(s.path, name))
	return c.wait(&wait{cut: s.haltError, due: c.now + d})
}

// Parallel implements engine.Scope.
func (s *Scope) Parallel(n int, name func(int) string, f func(int, engine.Scope) error) error {
	c, open, errs := s.r.clock, n, make([]error, n)
	for i := range n {
		branch, begin := s.child(name(i)), &wait{due: c.now, wake: make(chan error, 1)}
		c.waits = append(c.waits, begin)
		go func() {
			defer func() { open--; c.next() }()
			if errs[i] = <-begin.wake; errs[i] == nil {
				errs[i] = f(i, branch)
			}
		}()
	}
	if n == 0 {
		return nil
	}
	if err := c.wait(&wait{ready: func() bool { return open == 0 }}); err != nil {
		return err
	}
	return errors.Join(errs...)
}

// timeoutError ends the waits below a Timeout.
type timeoutError struct{}

// Error implements error.
func (timeoutError) Error() string { return "timeout" }

// ScopeTimedOut marks the error for engine.TimedOut.
func (timeoutError) ScopeTimedOut() {}

// Timeout implements engine.Scope.
func (s *Scope) Timeout(name string, d time.Duration, f func(engine.Scope) error) error {
	if d <= 0 {
		return f(s)
	}
	if err := s.haltError(); err != nil {
		return err
	}
	c, below := s.r.clock, s.child(name)
	c.use(joinPath(below.path, "timer"))
	t := &timer{due: c.now + d, scope: below}
	c.timers = append(c.timers, t)
	err := f(below)
	c.timers = slices.DeleteFunc(c.timers, func(o *timer) bool { return o == t })
	if err == nil {
		err = below.timeoutErr
	}
	return err
}

// haltError returns the error that ends the waits of this scope, or nil.
func (s *Scope) haltError() error {
	for ; s != nil; s = s.parent {
		if s.timeoutErr != nil {
			return s.timeoutErr
		}
	}
	return nil
}

// stop ends the run: every wait ends with the first such error.
func (s *Scope) stop(reason stop.Reason) error {
	if s.r.end == nil {
		s.r.end = &stop.Error{Reason: reason}
		s.r.top.timeoutErr = s.r.end
	}
	return s.r.end
}

// Agent implements engine.Scope. It runs the nodes along the first edges that have no
// condition or whose condition holds.
func (s *Scope) Agent(name string, p *engine.Program, params map[string]any) (*engine.Result, error) {
	if err := s.haltError(); err != nil {
		return nil, err
	}
	if p == nil || s.r.host.Nested == nil {
		return nil, stop.Fail(stop.Internal, "", "agent %s is not connected", name)
	}
	params, err := p.Arguments(params)
	if err != nil {
		return failedResult("agent " + p.Name + ": " + err.Error()), nil
	}
	host, err := s.r.host.Nested(p, params)
	if err != nil {
		return nil, err
	}
	r := &fakeRun{ctx: s.r.ctx, program: p, host: host, input: engine.Input{Parameters: params}, parent: s.r, clock: s.r.clock}
	agent := newFakeRun(r, joinPath(s.path, name))
	agent.parent = s
	err = agent.walk()
	if outer := s.haltError(); outer != nil {
		return nil, outer
	}
	if _, ends := errors.AsType[*stop.Error](err); err != nil && !ends && model.AsError(err) == nil {
		return nil, err // a defect of a node
	}
	return r.result(err), nil
}

func (s *Scope) walk() error {
	at := s.r.program.Graph.Start
	for range engine.MaxVisits {
		if at == engine.End {
			return nil
		}
		if err := s.r.program.Nodes[at].Run(s); err != nil {
			return err
		}
		from := at
		at = engine.End
		for _, e := range s.r.program.Graph.From(from) {
			holds := e.Label == ""
			if !holds {
				v := s.View()
				holds, _ = e.Guard.Eval(v.Env(e.Label))
			}
			if holds {
				at = e.To
				break
			}
		}
	}
	return stop.AtLimit(stop.Loop, "graph", "the graph has no end")
}

func failedResult(why string) *engine.Result {
	return &engine.Result{Status: stop.RunFailed, Error: why, StopReason: stop.Reason{Code: stop.Internal, Message: why, Status: stop.RunFailed}}
}

// result returns the result of an agent.
func (r *fakeRun) result(err error) *engine.Result {
	res := &engine.Result{Status: stop.RunCompleted, StopReason: stop.Reason{Code: stop.Answered, Status: stop.RunCompleted}}
	if err != nil {
		res = failedResult(err.Error())
		if model.AsError(err) != nil {
			res.StopReason.Code = stop.ProviderError
		}
		if end, ok := errors.AsType[*stop.Error](err); ok {
			res.Status, res.StopReason = end.Reason.Status, end.Reason
		}
	}
	res.Plan, res.Steps, res.Usage, res.Warnings = r.state.Plan, r.state.Steps, r.state.Usage, r.state.Warnings
	res.Response = r.state.LastOutput
	if a := r.state.Answer; a != nil {
		res.Response, res.Output = a.Text, a.Output
	}
	return res
}
