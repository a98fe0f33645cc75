package analysis

import (
	"slices"
	"time"

	"github.com/pexctl/pex/dsl"
	"github.com/pexctl/pex/dsl/diag"
	"github.com/pexctl/pex/dsl/language"
	"github.com/pexctl/pex/engine"
)

// limits: some limit what this spec never does.
func (w effectChecker) limits() {
	if w.Program.Limits.MaxTokens == 0 {
		w.reportKey("limits.max_tokens is not set, so there are no tokens to reserve", "write limits: {max_tokens: ...}", language.Finalizer, "reserve_tokens")
	}
	if !w.replans() {
		w.reportKey("with reflector.strategy none and no guard with do: replan, no plan is replaced", "remove it, or set the strategy to batch or adaptive", "limits", "max_replans")
	}
	if len(w.Tools) == 0 && !agents(w.Pass) {
		because, hint := "the spec has no tools", "add one under tools, or remove it"
		w.reportKey(because, hint, "limits", "max_tool_calls")
		w.reportKey(because, hint, "limits", "max_consecutive_tool_calls")
		for _, n := range parts(w.Pass) {
			if n.typ == language.Executor {
				w.reportNode(n, because, hint, "parallel_tool_calls")
			}
		}
	}
	w.stepTime()
}

// replans reports whether a plan may be replaced. It is not known for a graph
// that the spec defines.
func (w effectChecker) replans() bool {
	if written(w.Pass) || strategy(w.Pass) != never {
		return true
	}
	return slices.ContainsFunc(w.Program.Guards, func(g engine.Guard) bool {
		return g.Do == engine.GuardReplan || g.Do == engine.GuardInterrupt
	})
}

// stepTime: a step limit above the time limit of the run has no effect.
func (w effectChecker) stepTime() {
	most := w.Program.Limits.MaxDuration
	if most == 0 {
		return
	}
	for _, n := range parts(w.Pass) {
		if n.typ != language.Executor {
			continue
		}
		if d, err := time.ParseDuration(n.text("0s", "step_timeout")); err == nil && d >= most {
			w.reportNode(n, "limits.max_duration ends the run first, after "+most.String(), "set a shorter time for a step than for the run", "step_timeout")
		}
	}
}

// places: guards are evaluated when something happens. Places of steps, tools and
// the reflector require such a node.
func (w effectChecker) places() {
	_, plans := first(w.Pass, language.Planner)
	_, steps := first(w.Pass, language.Executor)
	_, reflects := first(w.Pass, language.Reflector)
	reflects = reflects && (written(w.Pass) || strategy(w.Pass) != never)
	items := w.Spec.Tree().Get("guards").Items()
	for i, g := range w.Program.Guards {
		if i >= len(items) || !w.InSpecFile(items[i].Place()) {
			continue
		}
		at, _ := entryOf(items[i], "at")
		tool := g.At == engine.BeforeTool || g.At == engine.AfterTool
		switch {
		case g.At == engine.AfterPlan && !plans:
			w.never(at, g.Name, "the graph has no planner", "use at: after_step, which runs after each step of an executor")
		case g.At == engine.AfterReflect && !reflects:
			w.never(at, g.Name, "no node of the graph reflects", "use at: after_plan or after_step")
		case g.At == engine.AfterStep && !steps:
			w.never(at, g.Name, "no executor of the graph runs steps", "use at: after_tool, which runs for tool calls of every node")
		case tool && len(w.Tools) == 0 && !agents(w.Pass):
			w.never(at, g.Name, "the spec has no tools", "add one under tools, or remove the guard")
		}
	}
}

func (w effectChecker) never(at dsl.Entry, name, because, hint string) {
	w.Warn(diag.NoEffect, at.Place, "guard %q never fires: %s", name, because).Hint = hint
}
