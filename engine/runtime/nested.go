package runtime

import (
	"fmt"

	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/stop"
)

// maxNesting bounds agents within agents.
const maxNesting = 5

// Agent implements Scope.
func (s *scope) Agent(name string, p *engine.Program, params map[string]any) (*engine.Result, error) {
	child, err := s.nested(name, p, params)
	if err != nil {
		return nil, err
	}
	return child.result(child.started), nil
}

// nested is Agent, and gives the run within the run as far as it came: with an
// error too, once it had begun.
func (s *scope) nested(name string, p *engine.Program, params map[string]any) (*run, error) {
	if err := s.halted(); err != nil {
		return nil, err
	}
	parent := s.r
	if p == nil || parent.host.Nested == nil {
		return nil, stop.Fail(stop.Internal, "", "agent %s is not connected", name)
	}
	if parent.depth+1 > maxNesting {
		return nil, stop.Fail(stop.Internal, "", "agents are nested deeper than %d", maxNesting)
	}
	params, unfit := p.Arguments(params)
	if unfit != nil {
		return parent.child(s, name, p, engine.Host{}, nil).unfit(unfit), nil
	}
	host, err := parent.host.Nested(p, params)
	if err != nil {
		return nil, fmt.Errorf("agent %s: %w", p.Name, err)
	}
	defer parent.root().leaving.Go(func() { _ = host.Close() }) // how its servers end is no part of the run
	child := parent.child(s, name, p, host, params)
	return child, child.through(s, &scope{s.k.Child(name), child})
}

// child is the run of an agent, not begun yet.
func (r *run) child(s *scope, name string, p *engine.Program, h engine.Host, params map[string]any) *run {
	if h.Secrets == nil {
		h.Secrets = r.host.Secrets
	}
	path := joinPath(s.Path(), name)
	child := newRun(p, h, engine.Input{RunID: r.input.RunID + "/" + path, Parameters: params}, r.opts)
	child.parent, child.depth, child.agent = r, r.depth+1, path
	child.emit, child.started = r.emit, r.started
	child.segments, child.retries, child.charges = r.segments, r.retries, r.charges
	return child
}

// unfit is a run that was called with parameters which it does not take.
func (r *run) unfit(why error) *run {
	r.err = fmt.Sprintf("agent %s: %v", r.program.Name, why)
	r.reason = stop.Reason{Code: stop.Internal, Message: r.err, Status: stop.RunFailed}
	return r
}

// through is the whole run of an agent, called in a scope of its parent.
func (r *run) through(outer, s *scope) error {
	began := outer.Now()
	r.begun = began
	err := r.readSession(s)
	if err == nil {
		err = s.timeout("", r.program.Limits.MaxDuration-r.program.Limits.Closing(), r.equipAndWalk)
	}
	for p := r.parent; p != nil; p = p.parent {
		if p.stopping != nil {
			return p.stopping
		}
	}
	if cut := outer.Await(always); cut != nil {
		return cut // it was not the agent's own time that ran out
	}
	if err := r.wrapUp(s, err); err != nil {
		return err
	}
	if r.reason.Code == stop.ToolsChanged {
		return &stop.Error{Reason: r.reason} // nobody may work with tools that are not those pinned
	}
	r.elapsed = outer.Now() - began
	return nil
}

func always() bool { return true }
