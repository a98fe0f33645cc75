package graph

import (
	"slices"
	"strings"
)

// How much is shown of each guard where several stand at one line of a picture,
// and of all of them, in columns and lines.
const (
	togetherColumns = 44
	togetherLines   = 2
	togetherMost    = 14
)

// wire is a line of a picture: an edge, or all edges with the same ends, whose
// guards then stand below each other.
type wire struct {
	from, to string
	jump     bool
	taken    bool
	edges    []*drawnEdge
}

// words is a line of a label.
type words struct{ class, text string }

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
func (w *wire) label() []words {
	if len(w.edges) == 1 {
		return w.edges[0].shown(w.edges[0].label, labelColumns, maxLines)
	}
	var out []words
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
		out = append(out, e.shown(text, togetherColumns, togetherLines)...)
	}
	if len(out) > togetherMost {
		out = append(out[:togetherMost-1], words{"guard", "…"})
	}
	return out
}

func (e *drawnEdge) shown(text string, columns, most int) []words {
	var out []words
	for _, line := range wrap(text, columns, most) {
		out = append(out, words{"guard", line})
	}
	if e.count > 0 {
		out = append(out, words{"times", times(e.count)})
	}
	return out
}

// tip is the whole label, each guard in a line.
func (w *wire) tip() string {
	texts := make([]string, len(w.edges))
	for i, e := range w.edges {
		texts[i] = clipped(e.text(), maxTip)
	}
	return strings.Join(texts, "\n")
}
