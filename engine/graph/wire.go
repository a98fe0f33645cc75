package graph

import (
	"slices"
	"strings"
)

// How much is shown of each guard where several stand at one line of a picture,
// and of all of them, in columns and lines.
const (
	groupColumns = 44
	groupLines   = 2
	groupMax     = 14
)

// wire is a line of a picture: an edge, or all edges with the same ends, whose
// guards then stand below each other.
type wire struct {
	from, to string
	jump     bool
	taken    bool
	edges    []*drawnEdge
}

// labelLine is a line of a label.
type labelLine struct{ class, text string }

// wires are the lines of a picture. A jump is no edge, and is drawn for itself.
func (d *Drawing) wires() []wire {
	var out []wire
	for i := range d.edges {
		e := &d.edges[i]
		at := slices.IndexFunc(out, func(w wire) bool { return !e.jump && !w.jump && w.from == e.from && w.to == e.to })
		if at < 0 {
			at, out = len(out), append(out, wire{from: e.from, to: e.to, jump: e.jump})
		}
		w := &out[at]
		w.edges, w.taken = append(w.edges, e), w.taken || e.count > 0
	}
	return out
}

// label is what stands at a line: its guard, and how often it was taken.
func (w *wire) label() []labelLine {
	if len(w.edges) == 1 {
		return w.edges[0].labelLines(w.edges[0].label, labelColumns, maxLines)
	}
	var out []labelLine
	for i, e := range w.edges {
		text := e.label
		switch {
		case text == "" && i == len(w.edges)-1:
			text = "or else"
		case text == "":
			text = "always"
		case i > 0:
			text = "or " + text
		}
		out = append(out, e.labelLines(text, groupColumns, groupLines)...)
	}
	if len(out) > groupMax {
		out = append(out[:groupMax-1], labelLine{"guard", "…"})
	}
	return out
}

func (e *drawnEdge) labelLines(text string, columns, most int) []labelLine {
	var out []labelLine
	for _, line := range wrap(text, columns, most) {
		out = append(out, labelLine{"guard", line})
	}
	if e.count > 0 {
		out = append(out, labelLine{"times", times(e.count)})
	}
	return out
}

// tip is the whole label, each guard in a line.
func (w *wire) tip() string {
	texts := make([]string, len(w.edges))
	for i, e := range w.edges {
		texts[i] = clip(e.text(), maxTip)
	}
	return strings.Join(texts, "\n")
}
