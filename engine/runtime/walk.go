package runtime

import (
	"errors"
	"fmt"
	"strconv"

	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/stop"
)

// walkGraph visits nodes until the graph ends.
func (r *run) walkGraph(s *scope) error {
	s = s.child("") // a separate scope, so that cutting the walk does not cut what follows
	r.walkScope = s.k
	at, before := r.program.Graph.Start, ""
	for n := range engine.MaxVisits {
		if err := s.boundary("node", strconv.Itoa(n+1)); err != nil {
			return err
		}
		if r.traced() {
			r.trace(NodeVisited{at})
		}
		if at == engine.End {
			return r.endWalk(s, before)
		}
		next, err := r.visit(s, at)
		if err != nil {
			return err
		}
		at, before = next, at
	}
	return stop.AtLimit(stop.Loop, "graph", "the graph did not end after %d nodes", engine.MaxVisits)
}

// endWalk determines the answer when the walk ends after node before.
func (r *run) endWalk(s *scope, before string) error {
	if _, f := engine.NodeWith[engine.Finalizer](r.program); f != nil {
		return f.FinalizeAnswer(s, before)
	}
	if r.state.Answer == nil {
		s.Record(engine.Answered{Answer: engine.Answer{Text: r.state.LastOutput}})
	}
	return nil
}

// visit runs a node and returns the next one.
func (r *run) visit(s *scope, at string) (string, error) {
	err := r.program.Nodes[at].Run(s)
	if errors.Is(err, engine.ErrReplan) {
		var id string
		if id, err = r.replanTarget(s, at, err); err == nil {
			return id, nil
		}
	}
	if err != nil {
		return "", fmt.Errorf("node %s: %w", at, err)
	}
	return r.next(s, at)
}

// replanTarget returns the node that makes a new plan, or why the run ends.
func (r *run) replanTarget(s *scope, at string, why error) (string, error) {
	id := r.program.Replanner(at, r.state.Planner)
	guard, urged := errors.AsType[*engine.ReplanError](why)
	switch {
	case urged && id == "":
		return "", s.stop(&stop.Error{Reason: stop.Reason{
			Code: stop.Guard, Status: stop.RunStopped, Path: guard.Path,
			Message: guard.Message + " (replanning was requested, but the agent has no planner)",
		}})
	case urged:
		s.Record(engine.ReplanRequested{Message: guard.Message})
	case id == "":
		return "", why
	}
	return id, nil
}

// next returns the target of the first edge whose condition holds. A node without edges
// ends the walk.
func (r *run) next(s *scope, at string) (string, error) {
	for _, e := range r.program.Graph.From(at) {
		ok, err := r.edgeHolds(s, e.Label, e.Guard, e.Each)
		if err != nil {
			s.Record(engine.WarningAdded{Text: fmt.Sprintf("edge %s -> %s: its condition cannot be evaluated: %v", at, e.To, err)})
		}
		if ok {
			if s.r.traced() {
				s.r.trace(EdgeTaken{at, e.To, e.Label})
			}
			return e.To, nil
		}
	}
	return engine.End, nil
}

// edgeHolds reports whether an edge is taken. If its condition cannot be evaluated, a
// plain edge is not taken and an edge evaluated per step is: an extra review is better
// than a missing one.
func (r *run) edgeHolds(s *scope, label string, guard engine.Condition, each bool) (bool, error) {
	if label == "" {
		return true, nil
	}
	v := s.View()
	if !each {
		ok, err := guard.Eval(v.Env(label))
		return ok && err == nil, err
	}
	if len(v.State.UserMessages) > v.State.ReviewedMessages {
		return true, nil // a message that no reviewer has seen
	}
	for _, id := range r.state.EndedSinceReview {
		rec, _ := r.state.Record(id)
		if ok, err := guard.Eval(v.StepEnv(label, &rec)); ok || err != nil {
			return true, err
		}
	}
	return false, nil
}

// traced reports whether there is a tracer; checked first to avoid building events.
func (r *run) traced() bool { return r.opts.Tracer != nil }

func (r *run) trace(w TraceEvent) { r.opts.Tracer.Trace(r.program, w) }
