package engine

import (
	"fmt"
	"maps"
)

// maxNesting bounds agents within agents.
const maxNesting = 5

// Agent runs another program as part of this run: the same journal and events,
// paths below name; it draws on this run's budget and keeps its own limits. Its
// result is data, also when it failed; an error is the run's own.
func (s *Scope) Agent(name string, p *Program, params map[string]any) (*Result, error) {
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
	params, err := p.given(params)
	if err != nil {
		reason := StopReason{Code: StopInternal, Message: fmt.Sprintf("agent %s: %v", p.Name, err), Status: Failed}
		return &Result{Status: Failed, StopReason: reason, Error: reason.Message}, nil
	}
	host, err := parent.host.Nested(p, params)
	if err != nil {
		return nil, fmt.Errorf("agent %s: %w", p.Name, err)
	}
	if host.Secrets == nil {
		host.Secrets = parent.host.Secrets
	}
	child := newRun(p, host, Input{RunID: parent.input.RunID + "/" + joinPath(s.Path(), name), Parameters: params}, parent.opts)
	child.parent, child.depth = parent, parent.depth+1
	child.emit, child.started = parent.emit, parent.started
	child.segments, child.retries, child.charges = parent.segments, parent.retries, parent.charges
	child.agent = joinPath(s.Path(), name)
	sc := &Scope{s.k.Child(name), child}
	began := s.Now()
	if err = child.readSession(sc); err == nil {
		err = sc.within(p.Limits.MaxDuration, child.equipped)
	}
	_ = host.Close() // what it began is of no further use; how it ended tells nobody anything
	for r := parent; r != nil; r = r.parent {
		if r.stopping != nil {
			return nil, r.stopping
		}
	}
	if cut := s.Await(always); cut != nil {
		return nil, cut // it was not the agent's own time that ran out
	}
	if err := child.conclude(sc, err); err != nil {
		return nil, err
	}
	child.elapsed = s.Now() - began
	return child.result(child.started), nil
}

// given is the parameters that an agent is called with, over its defaults.
func (p *Program) given(params map[string]any) (map[string]any, error) {
	out := make(map[string]any, len(p.Parameters)+len(params))
	for _, q := range p.Parameters {
		v, ok := params[q.Name]
		switch {
		case ok:
			if err := q.Check.Validate(jsonValue(v)); err != nil {
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

// jsonValue is a value as schemas want it, numbers as they are written.
func jsonValue(v any) any { return decoded(encoded(v)) }

func always() bool { return true }
