package costbound

import (
	"fmt"

	"github.com/pexctl/pex/engine"
)

// Edge conditions that depend on a node's result.
const (
	answered = `reply.result != ""`
	noneLeft = `len(plan.remaining) == 0`
	someLeft = `len(plan.remaining) > 0`
)

// walk derives from the graph how often its nodes are visited.
type walk struct {
	program *engine.Program
	worst   map[string]engine.WorstCase
}

// visits returns how often a run visits a node; once without cycles.
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

// around returns how often a node in a cycle is visited: each round starts a step, unless
// there is a cycle without steps.
func (w *walk) around(id string) engine.Factor {
	if w.startsStepEachVisit(id) {
		return w.steps(0)
	}
	if w.reaches(id, id, w.startsStepEachVisit) {
		return engine.Factor{N: engine.MaxVisits, Text: fmt.Sprintf("at most %d nodes per run", engine.MaxVisits)}
	}
	more := 0
	if !w.worst[id].AfterMaxSteps || !w.ends(id) {
		more++ // after the last step
	}
	if g := w.program.Graph; g.Start == id || !w.startsStepEachVisit(g.Start) && w.reaches(g.Start, id, w.startsStepEachVisit) {
		more++ // before the first
	}
	return w.steps(more)
}

// steps returns the maximum number of steps, plus more.
func (w *walk) steps(more int) engine.Factor {
	n := w.program.Limits.MaxSteps
	f := engine.Factor{N: n + more, Text: fmt.Sprintf("limits.max_steps %d", n), Paths: []string{"limits.max_steps"}}
	if more > 0 {
		f.Text = fmt.Sprintf("(%d + %s)", more, f.Text)
	}
	return f
}

// started returns how many steps a node starts in a run.
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

// startsStepEachVisit reports whether every visit of a node starts a step, or is the last
// one once max_steps are used up.
func (w *walk) startsStepEachVisit(id string) bool {
	switch w.worst[id].Starts {
	case engine.StartsOne:
		return true
	case engine.StartsOpen:
		return w.alwaysFindsPlan(id)
	case engine.StartsNone:
	}
	return false
}

// alwaysFindsPlan reports whether a node that runs the rest of the plan always finds a
// step: each path from a node that may have run all of it passes a planning node.
func (w *walk) alwaysFindsPlan(id string) bool {
	plans := func(n string) bool { return w.worst[n].Plans && w.ends(n) }
	if g := w.program.Graph; g.Start == id || !plans(g.Start) && w.reaches(g.Start, id, plans) {
		return false
	}
	for from, worst := range w.worst {
		if worst.Starts != engine.StartsOpen {
			continue
		}
		for _, to := range w.nextWithoutSteps(from) {
			if to == id || !plans(to) && w.reaches(to, id, plans) {
				return false
			}
		}
	}
	return true
}

// nextWithoutSteps returns the next nodes when no step remains.
func (w *walk) nextWithoutSteps(id string) []string {
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

// ends reports whether an answer of a node ends the walk.
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

// reaches reports whether a path of at least one edge leads from one node to another,
// avoiding nodes that block; nil blocks nothing.
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
