package graph

import (
	"maps"
	"slices"
	"strconv"
)

// Path is a path through a graph: how often nodes were visited and edges taken. The zero
// Path is empty.
type Path struct {
	Visits map[string]int `json:"visits"` // by node, including End
	Edges  []EdgeCount    `json:"taken"`  // in the order in which they were first taken
	At     string         `json:"at"`     // last visited node; "" = none
	Status string         `json:"status"` // status for display: "completed"
	Reason string         `json:"reason"` // why it ended or waits: "answered"
}

// EdgeCount is a transition between nodes. A Jump follows no edge.
type EdgeCount struct {
	From  string `json:"from"`
	To    string `json:"to"`
	When  string `json:"when,omitempty"` // label of the edge
	Jump  bool   `json:"jump,omitempty"`
	Count int    `json:"count"`
}

// Visit records a visit of a node.
func (w *Path) Visit(id string) {
	if w.Visits == nil {
		w.Visits = map[string]int{}
	}
	w.Visits[id]++
	w.At = id
}

// Take records a transition.
func (w *Path) Take(t EdgeCount) {
	i := slices.IndexFunc(w.Edges, func(o EdgeCount) bool {
		return o.From == t.From && o.To == t.To && o.When == t.When && o.Jump == t.Jump
	})
	if i < 0 {
		i, w.Edges = len(w.Edges), append(w.Edges, t)
	}
	w.Edges[i].Count++
}

// Drawing is a graph to draw, with an optional path.
type Drawing struct {
	start string
	nodes []drawnNode
	edges []drawnEdge
	walk  *Path // nil = none
	ends  int   // how often the end was reached
	notes []Note
}

type drawnNode struct {
	Node
	visits int
	at     bool // the walk is here
	notes  []Note
}

type drawnEdge struct {
	from, to, label string // for display
	when            string // as written
	each            bool
	count           int
	jump            bool // not an edge of the graph
}

// Draw returns a drawing; w may be nil.
func (g *Graph[G]) Draw(w *Path) *Drawing {
	d := &Drawing{start: g.Start, walk: w}
	for _, n := range g.Nodes {
		d.nodes = append(d.nodes, drawnNode{Node: n})
	}
	for _, e := range g.Edges {
		d.edges = append(d.edges, drawnEdge{from: e.From, to: e.To, label: e.text(), when: e.Label, each: e.Each})
	}
	if w != nil {
		d.mark(w)
	}
	return d
}

// mark counts the transitions of the walk. Of identical edges the first counts as taken.
func (d *Drawing) mark(w *Path) {
	for i := range d.nodes {
		d.nodes[i].visits, d.nodes[i].at = w.Visits[d.nodes[i].ID], w.At == d.nodes[i].ID
	}
	d.ends = w.Visits[End]
	for _, t := range w.Edges {
		i := slices.IndexFunc(d.edges, func(e drawnEdge) bool { return !t.Jump && t.follows(e) })
		switch {
		case i >= 0:
			d.edges[i].count += t.Count
		case t.Jump && d.has(t.From) && d.has(t.To):
			d.edges = append(d.edges, drawnEdge{from: t.From, to: t.To, label: "jump", jump: true, count: t.Count})
		}
	}
}

func (d *Drawing) has(id string) bool {
	return id == End || slices.ContainsFunc(d.nodes, func(n drawnNode) bool { return n.ID == id })
}

// statusText returns the status and reason of the walk, or "".
func (d *Drawing) statusText() string {
	if d.walk == nil || d.walk.Status == "" {
		return ""
	}
	if d.walk.Reason == "" || d.walk.Reason == d.walk.Status {
		return d.walk.Status
	}
	return d.walk.Status + ": " + d.walk.Reason
}

// times formats a count after a text.
func times(n int) string { return "×" + strconv.Itoa(n) }

func (e drawnEdge) text() string {
	switch {
	case e.count == 0:
		return e.label
	case e.label == "":
		return times(e.count)
	}
	return e.label + " " + times(e.count)
}

// nodeText returns a node with its number of visits and, where a walk stopped before the
// end, its status.
func (d *Drawing) nodeText(n drawnNode) string {
	text := label(n.Node)
	if n.visits > 0 {
		text += " " + times(n.visits)
	}
	if n.at && d.statusText() != "" {
		text += ", " + d.statusText()
	}
	return text
}

// endText returns the end with the status of a walk that reached it.
func (d *Drawing) endText() string {
	if d.ends == 0 || d.statusText() == "" {
		return End
	}
	return End + ", " + d.statusText()
}

// Missing lists the nodes and edges of the walk that are not in the graph, because the
// walk was recorded with another version of it.
func (d *Drawing) Missing() []string {
	if d.walk == nil {
		return nil
	}
	var out []string
	for _, id := range slices.Sorted(maps.Keys(d.walk.Visits)) {
		if !d.has(id) {
			out = append(out, "node "+id)
		}
	}
	for _, t := range d.walk.Edges {
		if !slices.ContainsFunc(d.edges, t.follows) {
			way := "edge " + t.From + " -> " + t.To
			if t.When != "" {
				way += " (" + t.When + ")"
			}
			out = append(out, way)
		}
	}
	return out
}

// follows reports whether a transition follows an edge.
func (t EdgeCount) follows(e drawnEdge) bool {
	return e.jump == t.Jump && e.from == t.From && e.to == t.To && (t.Jump || e.when == t.When)
}
