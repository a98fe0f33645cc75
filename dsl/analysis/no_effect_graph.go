package analysis

import (
	"slices"
	"strconv"

	"github.com/pexctl/pex/dsl/diag"
	"github.com/pexctl/pex/dsl/language"
)

// absent: in a graph that the spec defines, the section of a role without a node
// has no effect, except for the keys that other nodes read.
func (w effectChecker) absent() {
	if !written(w.Pass) {
		return
	}
	_, plans := first(w.Pass, language.Planner)
	_, reflects := first(w.Pass, language.Reflector)
	if !reflects {
		w.reportKey("the graph has no reflector", "remove it, or add a node of type reflector", language.Reflector)
	}
	approval := w.Spec.Tree().Get(language.Planner, "approval").Text()
	if !plans && !reflects && approval != "never" {
		w.reportKey("no node of the graph makes a plan", "remove it; use the approval of tools instead", language.Planner, "approval")
	}
}

// fed: an executor runs the steps of a planner or a reflector, or the question if
// no node plans. An executor that receives neither has no effect.
func (w effectChecker) fed() {
	if !written(w.Pass) {
		return
	}
	for _, n := range parts(w.Pass) {
		id, ok := n.entry("id")
		if !fillsRole[language.Executor](w.Program, n.id) || !ok || !w.InSpecFile(id.Place) {
			continue
		}
		s := w.sources(n.id)
		_, plans := first(w.Pass, language.Planner)
		because, hint := "", "add a path to it from a planner, or remove it"
		switch {
		case s.planned || s.question && !plans:
			continue
		case s.other == "":
			because = "no planner runs before it, so it has no steps"
		case plans:
			because, hint = "the executor "+strconv.Quote(s.other)+" before it runs all steps of the plan", "add a planner or a reflector between them, or remove one of them"
		default:
			because, hint = "the executor "+strconv.Quote(s.other)+" before it takes the question, and no node plans", "add a planner between them, or call another spec with a node of type agent"
		}
		w.Warn(diag.NoEffect, id.Place, "the executor %q has no effect: %s", n.id, because).Hint = hint
	}
}

// sources describes where the steps of an executor come from.
type sources struct {
	planned  bool   // from a planner or a reflector
	question bool   // from the start of the graph, without another executor in between
	other    string // an executor that runs before it; "" if none
}

// sources walks the edges backwards from an executor. Nodes before another
// executor count only if that executor leaves steps to run.
func (w effectChecker) sources(id string) (s sources) {
	g, how := w.Program.Graph, strategy(w.Pass)
	leaves := how == perStep || how == adaptive
	type place struct {
		id    string
		clear bool // without another executor in between
	}
	at := place{id, true}
	seen := []place{at}
	for todo := []place{at}; len(todo) > 0; todo = todo[1:] {
		at = todo[0]
		s.question = s.question || at.clear && at.id == g.Start
		for _, e := range g.Edges {
			next := place{e.From, at.clear}
			if e.To != at.id || slices.Contains(seen, next) {
				continue
			}
			switch {
			case fillsRole[language.Planner](w.Program, e.From), fillsRole[language.Reflector](w.Program, e.From):
				s.planned = true
				continue
			case fillsRole[language.Executor](w.Program, e.From):
				if e.From == id {
					continue
				}
				if s.other == "" {
					s.other = e.From
				}
				if next.clear = false; !leaves || slices.Contains(seen, next) {
					continue
				}
			}
			seen, todo = append(seen, next), append(todo, next)
		}
	}
	return s
}
