package graph

import (
	"fmt"
	"strings"
)

// narrowest is the minimum width of text pictures, in columns.
const narrowest = 24

// widestBox bounds the width of boxes.
const widestBox = 76

// TextOptions configures a text picture.
type TextOptions struct {
	Columns int  // width; texts wrap. 0 = 80
	ASCII   bool // no box-drawing characters
}

// strokes are the characters of a text picture.
type strokes struct {
	corners             [4]string // top left, top right, bottom left, bottom right
	across, side        string
	line, branch, last  string
	arrow, jump, down   string
	times               string
	visitedCorners      [4]string
	visitedAcross, wall string
}

var (
	boxStrokes = strokes{
		corners: [4]string{"┌", "┐", "└", "┘"}, across: "─", side: "│",
		line: "│", branch: "├", last: "└", arrow: "─▶ ", jump: "┄▶ ", down: "▼", times: "×",
		visitedCorners: [4]string{"┏", "┓", "┗", "┛"}, visitedAcross: "━", wall: "┃",
	}
	asciiStrokes = strokes{
		corners: [4]string{"+", "+", "+", "+"}, across: "-", side: "|",
		line: "|", branch: "+", last: "+", arrow: "-> ", jump: "..> ", down: "v", times: "x",
		visitedCorners: [4]string{"#", "#", "#", "#"}, visitedAcross: "=", wall: "#",
	}
)

// Text draws the graph for a terminal: the nodes below each other in the order of the
// spec, each followed by its outgoing edges. Visited nodes have a heavy frame. name is the
// title.
func (d *Drawing) Text(name string, o TextOptions) string {
	if o.Columns <= 0 {
		o.Columns = 80
	}
	t := &textPicture{d: d, columns: max(o.Columns, narrowest), strokes: boxStrokes}
	if o.ASCII {
		t.strokes = asciiStrokes
	}
	t.measure()
	t.head(name)
	for i := range d.nodes {
		t.box(i)
		t.edges(i)
	}
	t.wrapped("  ", d.endText())
	return t.b.String()
}

// textPicture is a text picture that is being drawn.
type textPicture struct {
	strokes

	d       *Drawing
	columns int
	b       strings.Builder
	boxes   [][]string // the lines in each node's box
	inner   int        // columns in a box
}

// measure wraps the texts of all boxes, which are equally wide.
func (t *textPicture) measure() {
	most := min(t.columns, widestBox) - 4
	for i := range t.d.nodes {
		n := &t.d.nodes[i]
		lines := wrap(t.counted(t.d.nodeText(*n)), most, maxLines)
		for _, text := range noteTexts(n.notes, approvalText) {
			lines = append(lines, wrap(text, most, maxLines)...)
		}
		for _, line := range lines {
			t.inner = max(t.inner, width(line))
		}
		t.boxes = append(t.boxes, lines)
	}
}

// counted returns a text with the multiplication signs of its counts in the character set
// of the picture.
func (t *textPicture) counted(text string) string {
	if t.times == "×" {
		return text
	}
	return strings.ReplaceAll(text, "×", t.times)
}

// wrapped writes a text, indented and wrapped.
func (t *textPicture) wrapped(indent, text string) {
	for _, line := range wrap(t.counted(text), t.columns-width(indent), maxLines) {
		fmt.Fprintf(&t.b, "%s%s\n", indent, line)
	}
}

func (t *textPicture) head(name string) {
	t.wrapped("", name)
	for _, text := range noteTexts(t.d.notes, approvalText) {
		t.wrapped("", text)
	}
	if t.b.Len() > 0 {
		t.b.WriteString("\n")
	}
	t.b.WriteString("  start\n")
	if len(t.d.nodes) > 0 && t.d.start == t.d.nodes[0].ID {
		t.arrowDown("")
		return
	}
	fmt.Fprintf(&t.b, "  %s%s%s\n\n", t.last, t.arrow, clip(t.d.start, maxTip))
}

// arrowDown draws the line to the box below.
func (t *textPicture) arrowDown(label string) {
	t.b.WriteString(strings.TrimRight("  "+t.line+" "+t.counted(label), " ") + "\n  " + t.down + "\n")
}

func (t *textPicture) box(i int) {
	corners, across, side := t.corners, t.across, t.side
	if t.d.nodes[i].visits > 0 {
		corners, across, side = t.visitedCorners, t.visitedAcross, t.wall
	}
	line := strings.Repeat(across, t.inner+2)
	fmt.Fprintf(&t.b, "%s%s%s\n", corners[0], line, corners[1])
	for _, text := range t.boxes[i] {
		fmt.Fprintf(&t.b, "%s %s%s %s\n", side, text, strings.Repeat(" ", t.inner-width(text)), side)
	}
	fmt.Fprintf(&t.b, "%s%s%s\n", corners[2], line, corners[3])
}

// edges draws the outgoing edges of a node. The last one is a line to the next box if it
// leads there.
func (t *textPicture) edges(i int) {
	var edges []*drawnEdge
	for k := range t.d.edges {
		if t.d.edges[k].from == t.d.nodes[i].ID {
			edges = append(edges, &t.d.edges[k])
		}
	}
	next := End
	if i+1 < len(t.d.nodes) {
		next = t.d.nodes[i+1].ID
	}
	falls := len(edges) == 0 && next == End
	var along *drawnEdge
	for k, e := range edges {
		if !e.jump && e.label == "" && e.to == next {
			falls, along = true, e
			edges = append(edges[:k:k], edges[k+1:]...)
			break
		}
	}
	for k, e := range edges {
		t.edge(i, e, falls || k < len(edges)-1)
	}
	switch {
	case along != nil:
		t.arrowDown(along.text())
	case falls:
		t.arrowDown("")
	default:
		t.b.WriteString("\n")
	}
}

// edge draws an edge that does not lead to the next box; more reports whether another
// edge follows.
func (t *textPicture) edge(from int, e *drawnEdge, more bool) {
	text := clip(e.to, maxTip)
	if t.d.place(e.to) <= from {
		text = "back to " + text
	}
	switch {
	case e.jump:
		text += " (for a new plan)"
	case e.label != "":
		text += " when " + e.label
	}
	if e.count > 0 {
		text += " " + times(e.count)
	}
	arrow := t.arrow
	if e.jump {
		arrow = t.jump
	}
	first, rest := "  "+t.last+arrow, "      "
	if more {
		first, rest = "  "+t.branch+arrow, "  "+t.line+"   "
	}
	for k, line := range wrap(t.counted(text), t.columns-6, maxLines) {
		if k == 0 {
			fmt.Fprintf(&t.b, "%s%s\n", first, line)
			continue
		}
		fmt.Fprintf(&t.b, "%s%s\n", rest, line)
	}
}

// place returns the position of a node in the order of the spec; the end comes last.
func (d *Drawing) place(id string) int {
	for i := range d.nodes {
		if d.nodes[i].ID == id {
			return i
		}
	}
	return len(d.nodes)
}
