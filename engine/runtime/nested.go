package runtime

import (
	"fmt"
	"slices"

	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/stop"
)

// maxNesting is the maximum depth of nested agents.
const maxNesting = 5

// Agent implements Scope.
func (s *scope) Agent(name string, p *engine.Program, params map[string]any) (*engine.Result, error) {
	child, err := s.nested(name, p, params)
	if err != nil {
		return nil, err
	}
	return child.result(child.started), nil
}

// nested is Agent, but returns the nested run, also with an error if the run had started.
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
		return parent.child(s, name, p, engine.Host{}, nil).rejectParameters(unfit), nil
	}
	host, err := parent.host.Nested(p, params)
	if err != nil {
		return nil, fmt.Errorf("agent %s: %w", p.Name, err)
	}
	defer parent.root().closingHosts.Go(func() { _ = host.Close() }) // errors of closing servers do not affect the run
	child := parent.child(s, name, p, host, params)
	return child, child.runNested(s, &scope{s.k.Child(name), child})
}

// child returns the run of a nested agent, not started yet.
func (r *run) child(s *scope, name string, p *engine.Program, h engine.Host, params map[string]any) *run {
	if h.Secrets == nil {
		h.Secrets = r.host.Secrets
	}
	path := joinPath(s.Path(), name)
	child := newRun(p, h, engine.Input{RunID: r.input.RunID + "/" + path, Parameters: params}, r.opts)
	child.parent, child.depth, child.agent = r, r.depth+1, path
	child.emit, child.started = r.emit, r.started
	child.segments, child.retries, child.charges = r.segments, r.retries, r.charges
	child.site.nest(&r.site, AgentCall{Agent: slices.Index(r.program.Agents, p), Path: path, Parameters: params})
	return child
}

// rejectParameters fails a run that was called with invalid parameters.
func (r *run) rejectParameters(why error) *run {
	r.errText = fmt.Sprintf("agent %s: %v", r.program.Name, why)
	r.reason = stop.Reason{Code: stop.Internal, Message: r.errText, Status: stop.RunFailed}
	return r
}

// runNested performs the whole run of a nested agent in a scope of its parent.
func (r *run) runNested(outer, s *scope) error {
	began := outer.Now()
	r.startedActive = began
	err := r.readSession(s)
	if err == nil {
		err = s.timeout("", r.program.Limits.MaxDuration-r.program.Limits.FinalizeTime(), r.connectAndWalk)
	}
	for p := r.parent; p != nil; p = p.parent {
		if p.stopping != nil {
			return p.stopping
		}
	}
	if cut := outer.Await(always); cut != nil {
		return cut // the parent was interrupted, not the nested run
	}
	if err := r.finish(s, err); err != nil {
		return err
	}
	if r.reason.Code == stop.ToolsChanged {
		return &stop.Error{Reason: r.reason} // unpinned tools stop all runs
	}
	r.elapsed = outer.Now() - began
	return nil
}

func always() bool { return true }
