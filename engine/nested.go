package engine

import (
	"errors"
	"fmt"
)

// maxNesting bounds agents within agents.
const maxNesting = 5

// Agent runs another program as part of this run: the same journal, budget and
// events, paths below name. Its result is data, also when it failed; an error
// is the run's own.
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
	host, err := parent.host.Nested(p)
	if err != nil {
		return nil, fmt.Errorf("agent %s: %w", p.Name, err)
	}
	child := newRun(p, host, Input{RunID: parent.input.RunID + "/" + joinPath(s.Path(), name), Parameters: params}, parent.opts)
	child.parent, child.depth = parent, parent.depth+1
	child.consumed, child.emit, child.started = parent.consumed, parent.emit, parent.started
	child.segments = parent.segments
	sc := &Scope{s.k.Child(name), child}
	began := s.Now()
	err = sc.within(p.Limits.MaxDuration, child.along)
	if parent.stopping != nil {
		return nil, parent.stopping
	}
	var stop *StopError
	if errors.As(err, &stop) && (stop.Reason.Code == StopBudgetTokens || stop.Reason.Code == StopBudgetCost) {
		return nil, s.stop(stop) // the pot is the parent's
	}
	if err := child.conclude(sc, err); err != nil {
		return nil, err
	}
	child.elapsed = s.Now() - began
	return child.result(child.started), nil
}
