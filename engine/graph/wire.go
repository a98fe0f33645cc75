package graph

import (
	"slices"
	"strings"
)

// Maximum sizes of the guards of a line with several edges: columns and lines of each
// guard, and lines of all of them.
const (
	groupColumns = 44
	groupLines   = 2
	groupMax     = 14
)

// wire is a line of a picture: an edge, or all edges with the same ends. Its label lists
// their guards.
type wire struct {
	from, to string
	jump     bool
	taken    bool
	edges    []*drawnEdge
}

// labelLine is a line of a label.
type labelLine struct{ class, text string }

// wires returns the lines of a picture. Jumps have lines of their own.
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

// label returns the label of a line: its guards, and how often it was taken.
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

// tip returns the tooltip of a line: the complete label with one guard per line.
func (w *wire) tip() string {
	texts := make([]string, len(w.edges))
	for i, e := range w.edges {
		texts[i] = clip(e.text(), maxTip)
	}
	return strings.Join(texts, "\n")
}
