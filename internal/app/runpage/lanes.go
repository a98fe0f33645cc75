package runpage

import (
	"cmp"
	"slices"

	"github.com/pexctl/pex/engine/runview"
	"github.com/pexctl/pex/engine/text"
)

// lane is a row of the timeline: the calls of a step, or of a role.
type lane struct {
	Name  string
	Title string // the goal of a step
	Bars  []bar
}

// bar is a call in the timeline, on a scale from 0 to scale, or several calls that are too
// short to be drawn apart.
type bar struct {
	ID    string // of the first call
	Class string
	X, W  float64
	Tip   string
	calls int
}

// scale is the width of the timeline in view box units.
const scale = 1000.0

// minWidth is the minimum width of a bar.
const minWidth = 4.0

// lanes lays out the timeline: one lane per step, and one per role for calls outside of
// steps, in the order in which they started.
func lanes(v *runview.View) ([]lane, float64) {
	end := 1.0
	for i := range v.Groups {
		end = max(end, v.Groups[i].ToMS)
	}
	var out []lane
	byName := map[string]int{}
	for i := range v.Groups {
		g := &v.Groups[i]
		name := laneName(g)
		at, ok := byName[name]
		if !ok {
			at = len(out)
			byName[name] = at
			out = append(out, lane{Name: name, Title: g.Goal})
		}
		for k := range g.Items {
			if b, ok := barOf(&g.Items[k], end); ok {
				out[at].Bars = append(out[at].Bars, b)
			}
		}
	}
	kept := out[:0]
	for _, l := range out {
		if len(l.Bars) > 0 {
			l.Bars = joinNarrow(l.Bars)
			// Narrow bars are drawn last: a long bar must not cover them.
			slices.SortStableFunc(l.Bars, func(a, b bar) int { return cmp.Compare(b.W, a.W) })
			kept = append(kept, l)
		}
	}
	return kept, end
}

func laneName(g *runview.Group) string {
	switch {
	case g.Step != "":
		return g.Step
	case g.Role != "":
		return g.Role
	}
	return g.Path
}

func barOf(it *runview.Item, end float64) (bar, bool) {
	class := string(it.Kind)
	switch it.Kind {
	case runview.ModelItem, runview.ToolItem, runview.QuestionItem, runview.GuardItem, runview.LimitItem:
	default:
		return bar{}, false
	}
	if it.Failed {
		class += " failed"
	}
	if !it.Done {
		class += " open"
	}
	b := bar{ID: it.ID, Class: class, calls: 1, X: scale * it.FromMS / end, W: max(minWidth, scale*(it.ToMS-it.FromMS)/end)}
	b.X = min(b.X, scale-b.W)
	b.Tip = itemName(it) + ", " + span(it.ToMS-it.FromMS)
	return b, true
}

// joinNarrow joins calls of the same kind that are narrower than a bar and begin below the
// bar before.
func joinNarrow(bars []bar) []bar {
	var out []bar
	last := map[string]int{} // index in out by class
	for _, b := range bars {
		i, ok := last[b.Class]
		if ok && b.W <= minWidth && out[i].W <= minWidth && b.X >= out[i].X && b.X < out[i].X+minWidth {
			out[i].calls += b.calls
			out[i].Tip = text.Count(out[i].calls, "call") + " from here: " + b.Class
			continue
		}
		last[b.Class] = len(out)
		out = append(out, b)
	}
	return out
}
