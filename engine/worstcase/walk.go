package worstcase

import (
	"fmt"

	"github.com/pexctl/pex/engine"
)

// The conditions of edges that say something of what a node left behind.
const (
	answered = `reply.result != ""`
	noneLeft = `len(plan.remaining) == 0`
	someLeft = `len(plan.remaining) > 0`
)

// walk is what the graph says of how often its nodes are visited.
type walk struct {
	program *engine.Program
	worst   map[string]engine.Worst
}

// visits is how often a run comes to a node; a walk without cycles comes once.
func (w *walk) visits(id string) engine.Factor {
	if !w.reaches(id, id, nil) {
		return engine.Factor{N: 1}
	}
	n := w.around(id)
	if f := w.worst[id].Visits; f != nil && w.ends(id) && f.N < n.N {
		return *f
	}
	return n
}

// around is how often a walk in a cycle comes to a node: each time round starts
// a step, unless there is a way round without.
func (w *walk) around(id string) engine.Factor {
	if w.spends(id) {
		return w.steps(0)
	}
	if w.reaches(id, id, w.spends) {
		return engine.Factor{N: engine.MaxVisits, Text: fmt.Sprintf("at most %d nodes per run", engine.MaxVisits)}
	}
	more := 0
	if !w.worst[id].Last || !w.ends(id) {
		more++ // after the last step
	}
	if g := w.program.Graph; g.Start == id || !w.spends(g.Start) && w.reaches(g.Start, id, w.spends) {
		more++ // before the first
	}
	return w.steps(more)
}

// steps is all steps that a run may start, and some more.
func (w *walk) steps(more int) engine.Factor {
	n := w.program.Limits.MaxSteps
	f := engine.Factor{N: n + more, Text: fmt.Sprintf("limits.max_steps %d", n), Paths: []string{"limits.max_steps"}}
	if more > 0 {
		f.Text = fmt.Sprintf("(%d + %s)", more, f.Text)
	}
	return f
}

// started is how many steps a node starts in a run.
func (w *walk) started(id string) engine.Factor {
	switch w.worst[id].Starts {
	case engine.StartsOpen:
		return w.steps(0)
	case engine.StartsOne:
		if n := w.visits(id); n.N < w.program.Limits.MaxSteps {
			return n
		}
		return w.steps(0)
	case engine.StartsNone:
	}
	return engine.Factor{}
}

// spends says that every visit of a node starts a step, or is followed by no
// other once max_steps are used up.
func (w *walk) spends(id string) bool {
	switch w.worst[id].Starts {
	case engine.StartsOne:
		return true
	case engine.StartsOpen:
		return w.fresh(id)
	case engine.StartsNone:
	}
	return false
}

// fresh says that a node that runs what remains of the plan always finds some of
// it: whoever comes from a node that may have run all of it comes by one that
// makes a plan.
func (w *walk) fresh(id string) bool {
	plans := func(n string) bool { return w.worst[n].Plans && w.ends(n) }
	if g := w.program.Graph; g.Start == id || !plans(g.Start) && w.reaches(g.Start, id, plans) {
		return false
	}
	for from, worst := range w.worst {
		if worst.Starts != engine.StartsOpen {
			continue
		}
		for _, to := range w.onceDone(from) {
			if to == id || !plans(to) && w.reaches(to, id, plans) {
				return false
			}
		}
	}
	return true
}

// onceDone is where the walk may go from a node when nothing remains of the plan.
func (w *walk) onceDone(id string) []string {
	var out []string
	for _, e := range w.program.Graph.From(id) {
		if e.Label == someLeft && !e.Each {
			continue
		}
		out = append(out, e.To)
		if e.Label == noneLeft && !e.Each {
			break
		}
	}
	return append(out, w.jump(id)...)
}

// ends says that an answer of a node is the end of the walk.
func (w *walk) ends(id string) bool {
	edges := w.program.Graph.From(id)
	return len(edges) == 0 || edges[0].To == engine.End && (edges[0].Label == answered || edges[0].Label == "")
}

func (w *walk) jump(id string) []string {
	if !w.worst[id].Jumps {
		return nil
	}
	return w.program.Replanners(id)
}

// reaches says whether a way of at least one edge leads from one node to another
// that goes by none that blocks. Nil blocks nothing.
func (w *walk) reaches(from, to string, blocks func(string) bool) bool {
	seen := map[string]bool{}
	for todo := []string{from}; len(todo) > 0; todo = todo[1:] {
		next := w.jump(todo[0])
		for _, e := range w.program.Graph.From(todo[0]) {
			next = append(next, e.To)
		}
		for _, n := range next {
			if n == to {
				return true
			}
			if n != engine.End && !seen[n] && (blocks == nil || !blocks(n)) {
				seen[n] = true
				todo = append(todo, n)
			}
		}
	}
	return false
}
