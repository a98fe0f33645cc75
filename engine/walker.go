package engine

import "github.com/pexctl/pex/engine/graph"

// Walker is a Tracer that notes which way a run takes through its graph. Agents
// within the run have graphs of their own, and are not followed. The zero
// Walker is ready for one run.
type Walker struct {
	of    *Program // nil = not begun
	walk  graph.Walk
	taken bool // an edge led away from where the walk is
}

var _ Tracer = (*Walker)(nil)

// Trace implements Tracer.
func (w *Walker) Trace(p *Program, way Way) {
	if w.of == nil {
		w.of = p // the run's own program is heard first, before any within it
	}
	if p.Graph != w.of.Graph {
		return
	}
	switch way := way.(type) {
	case Visited:
		if from := w.walk.At; from != "" && !w.taken && way.Node != End {
			w.walk.Take(graph.Taken{From: from, To: way.Node, Jump: true}) // for a new plan, or a last turn
		}
		w.taken = false
		w.walk.Visit(way.Node)
	case EdgeTaken:
		w.taken = true
		w.walk.Take(graph.Taken{From: way.From, To: way.To, When: way.When})
	}
}

// Walk is the way as far as it was heard, and how the run stands.
func (w *Walker) Walk(res *Result) *graph.Walk {
	out := w.walk
	out.Status, out.Reason = string(res.Status), string(res.StopReason.Code)
	if res.StopReason.Path != "" {
		out.Reason += " (" + res.StopReason.Path + ")"
	}
	return &out
}
