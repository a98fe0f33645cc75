package engine

import (
	"fmt"
	"maps"
)

// maxNesting bounds agents within agents.
const maxNesting = 5

// Agent implements Scope.
func (s *scope) Agent(name string, p *Program, params map[string]any) (*Result, error) {
	child, err := s.nested(name, p, params)
	if err != nil {
		return nil, err
	}
	return child.result(child.started), nil
}

// nested is Agent, and gives the run within the run as far as it came: with an
// error too, once it had begun.
func (s *scope) nested(name string, p *Program, params map[string]any) (*run, error) {
	if err := s.halted(); err != nil {
		return nil, err
	}
	parent := s.r
	if p == nil || parent.host.Nested == nil {
		return nil, Fail(StopInternal, "", "agent %s is not connected", name)
	}
	if parent.depth+1 > maxNesting {
		return nil, Fail(StopInternal, "", "agents are nested deeper than %d", maxNesting)
	}
	params, unfit := p.given(params)
	if unfit != nil {
		return parent.child(s, name, p, Host{}, nil).unfit(unfit), nil
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
func (r *run) child(s *scope, name string, p *Program, h Host, params map[string]any) *run {
	if h.Secrets == nil {
		h.Secrets = r.host.Secrets
	}
	path := joinPath(s.Path(), name)
	child := newRun(p, h, Input{RunID: r.input.RunID + "/" + path, Parameters: params}, r.opts)
	child.parent, child.depth, child.agent = r, r.depth+1, path
	child.emit, child.started = r.emit, r.started
	child.segments, child.retries, child.charges = r.segments, r.retries, r.charges
	return child
}

// unfit is a run that was called with parameters which it does not take.
func (r *run) unfit(why error) *run {
	r.err = fmt.Sprintf("agent %s: %v", r.program.Name, why)
	r.reason = StopReason{Code: StopInternal, Message: r.err, Status: Failed}
	return r
}

// through is the whole run of an agent, called in a scope of its parent.
func (r *run) through(outer, s *scope) error {
	began := outer.Now()
	r.begun = began
	err := r.readSession(s)
	if err == nil {
		err = s.timeout("", r.program.Limits.MaxDuration-r.program.Limits.closing(), r.equipAndWalk)
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
	if r.reason.Code == StopToolsChanged {
		return &StopError{Reason: r.reason} // nobody may work with tools that are not those pinned
	}
	r.elapsed = outer.Now() - began
	return nil
}

// given is the parameters that an agent is called with, over its defaults.
func (p *Program) given(params map[string]any) (map[string]any, error) {
	out := make(map[string]any, len(p.Parameters)+len(params))
	for _, q := range p.Parameters {
		v, ok := params[q.Name]
		switch {
		case ok:
			if err := q.Check.Validate(decoded(encoded(v))); err != nil {
				return nil, fmt.Errorf("parameter %s: %w", q.Name, err)
			}
		case q.Default != nil:
			out[q.Name] = q.Default
		case q.Required:
			return nil, fmt.Errorf("parameter %s is required", q.Name)
		}
	}
	maps.Copy(out, params)
	return out, nil
}


func always() bool { return true }
