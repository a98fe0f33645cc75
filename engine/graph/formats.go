package graph

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Mermaid draws the graph as a Mermaid flowchart, guards on the edges.
func (g *Graph[G]) Mermaid() string { return g.Draw(nil).Mermaid() }

// DOT draws the graph for Graphviz.
func (g *Graph[G]) DOT() string { return g.Draw(nil).DOT() }

// MarshalJSON encodes the graph as {start, nodes, edges}.
func (g *Graph[G]) MarshalJSON() ([]byte, error) { return g.Draw(nil).MarshalJSON() }

// Mermaid draws a Mermaid flowchart with guards on the edges. Edges that the path took
// are thick, nodes that it visited are filled.
func (d *Drawing) Mermaid() string {
	var b strings.Builder
	b.WriteString("flowchart TD\n")
	fmt.Fprintf(&b, "    %s([start]) --> %s\n", d.unusedName("start"), d.mermaidID(d.start))
	for _, n := range d.nodes {
		fmt.Fprintf(&b, "    %s[%s]\n", d.mermaidID(n.ID), quote(d.nodeLines(n)...))
	}
	end := d.endText()
	if end != End {
		end = quote(end)
	}
	b.WriteString("    " + d.mermaidID(End) + "([" + end + "])\n")
	thick := []string{"0"} // links by number; the first is that from start
	for i, e := range d.edges {
		line := "-->"
		if e.jump {
			line = "-.->"
		}
		arrow := " " + line + " "
		if t := e.text(); t != "" {
			arrow = " " + line + "|" + quote(t) + "| "
		}
		if e.count > 0 {
			thick = append(thick, strconv.Itoa(i+1))
		}
		b.WriteString("    " + d.mermaidID(e.from) + arrow + d.mermaidID(e.to) + "\n")
	}
	if len(d.notes) > 0 { // a box next to the graph
		id := d.unusedName("notes")
		fmt.Fprintf(&b, "    %s[%s]\n    style %s fill:none,stroke-dasharray:4\n", id, quote(noteTexts(d.notes, padlock)...), id)
	}
	d.mermaidWalk(&b, thick)
	return b.String()
}

// mermaidWords are reserved words of Mermaid, which cannot be node ids.
var mermaidWords = []string{"call", "class", "classDef", "click", "default", "direction", End, "flowchart", "graph", "href", "interpolate", "linkStyle", "style", "subgraph"}

// mermaidID returns the id of a node in Mermaid.
func (d *Drawing) mermaidID(id string) string {
	out := strings.ReplaceAll(id, "--", "-_") // "--" would start a line
	if out != id || slices.ContainsFunc(mermaidWords, func(word string) bool { return strings.EqualFold(word, id) }) {
		return d.unusedName(out + "_")
	}
	return out
}

// unusedName returns a name with as many underscores appended as it needs to differ from
// all node ids.
func (d *Drawing) unusedName(name string) string {
	for slices.ContainsFunc(d.nodes, func(n drawnNode) bool { return n.ID == name }) {
		name += "_"
	}
	return name
}

// mermaidWalk marks the nodes and edges of the path.
func (d *Drawing) mermaidWalk(b *strings.Builder, thick []string) {
	var visited, at []string
	for _, n := range d.nodes {
		if n.visits > 0 {
			visited = append(visited, d.mermaidID(n.ID))
		}
		if n.at {
			at = append(at, d.mermaidID(n.ID))
		}
	}
	if d.ends > 0 {
		visited = append(visited, d.mermaidID(End))
	}
	if len(visited) == 0 {
		return
	}
	b.WriteString("    classDef visited fill:#d7e8ff,stroke:#1f6feb,color:#0b2545\n")
	b.WriteString("    class " + strings.Join(visited, ",") + " visited\n")
	if len(at) > 0 {
		b.WriteString("    classDef at stroke-width:4px\n")
		b.WriteString("    class " + strings.Join(at, ",") + " at\n")
	}
	b.WriteString("    linkStyle " + strings.Join(thick, ",") + " stroke:#1f6feb,stroke-width:3px\n")
}

// DOT draws for Graphviz; see Mermaid.
func (d *Drawing) DOT() string {
	var b strings.Builder
	start := d.unusedName("start")
	b.WriteString("digraph program {\n" + d.dotNotes() + "    " + start + " [shape=circle" + startLabel(start) + "];\n    " + start + " -> " + dot(d.start) + ";\n")
	for _, n := range d.nodes {
		fmt.Fprintf(&b, "    %s [shape=box, label=%s%s];\n", dot(n.ID), dot(strings.Join(d.nodeLines(n), "\n")), dotVisited(n.visits, n.at))
	}
	end := ""
	if t := d.endText(); t != End {
		end = ", label=" + dot(t)
	}
	b.WriteString("    " + End + " [shape=doublecircle" + end + dotVisited(d.ends, false) + "];\n")
	for _, e := range d.edges {
		fmt.Fprintf(&b, "    %s -> %s", dot(e.from), dot(e.to))
		var how []string
		if t := e.text(); t != "" {
			how = append(how, "label="+dot(t))
		}
		if e.count > 0 {
			how = append(how, `color="#1f6feb"`, "penwidth=3")
		}
		if e.jump {
			how = append(how, "style=dashed")
		}
		if len(how) > 0 {
			b.WriteString(" [" + strings.Join(how, ", ") + "]")
		}
		b.WriteString(";\n")
	}
	b.WriteString("}\n")
	return b.String()
}

// dotNotes returns the caption of the graph: its notes, one line per kind.
func (d *Drawing) dotNotes() string {
	if len(d.notes) == 0 {
		return ""
	}
	return "    label=" + dot(strings.Join(noteTexts(d.notes, padlock), "\n")) + ";\n"
}

// nodeLines returns the lines of a node: its name, then its notes.
func (d *Drawing) nodeLines(n drawnNode) []string {
	lines := []string{d.nodeText(n)}
	for _, text := range noteTexts(n.notes, padlock) {
		lines = append(lines, wrap(text, 60, maxLines)...)
	}
	return lines
}

// startLabel returns a label attribute for the start if its DOT id is not "start".
func startLabel(start string) string {
	if start == "start" {
		return ""
	}
	return ", label=start"
}

func dotVisited(visits int, at bool) string {
	s := ""
	if visits > 0 {
		s = `, style=filled, fillcolor="#d7e8ff", color="#1f6feb"`
	}
	if at {
		s += ", penwidth=4"
	}
	return s
}

type nodeJSON struct {
	Node
	Visits *int   `json:"visits,omitempty"`
	Notes  []Note `json:"notes,omitempty"`
}

type edgeJSON struct {
	From  string `json:"from"`
	To    string `json:"to"`
	When  string `json:"when,omitempty"`
	Each  bool   `json:"each_fresh_step,omitempty"`
	Taken *int   `json:"taken,omitempty"`
}

// MarshalJSON encodes the drawing as {start, nodes, edges, notes}. With a path, nodes have
// visits, edges have taken, and walk has the path itself.
func (d *Drawing) MarshalJSON() ([]byte, error) {
	nodes, edges := make([]nodeJSON, len(d.nodes)), []edgeJSON{}
	for i := range d.nodes {
		if nodes[i].Node = d.nodes[i].Node; d.walk != nil {
			nodes[i].Visits = &d.nodes[i].visits
		}
		nodes[i].Notes = d.nodes[i].notes
	}
	for i := range d.edges {
		e := &d.edges[i]
		if e.jump {
			continue // included in walk
		}
		out := edgeJSON{From: e.from, To: e.to, When: e.when, Each: e.each}
		if d.walk != nil {
			out.Taken = &e.count
		}
		edges = append(edges, out)
	}
	return json.Marshal(struct {
		Start string     `json:"start"`
		Nodes []nodeJSON `json:"nodes"`
		Edges []edgeJSON `json:"edges"`
		Notes []Note     `json:"notes,omitempty"`
		Walk  *Path      `json:"walk,omitempty"`
	}{d.start, nodes, edges, d.notes, d.walk})
}

func (e Edge[G]) text() string {
	if e.Each && e.Label != "" {
		return "any new step: " + e.Label
	}
	return e.Label
}

func label(n Node) string {
	if n.ID == n.Type {
		return n.ID
	}
	return n.ID + " (" + n.Type + ")"
}

// quote returns lines as a Mermaid string. Mermaid escapes only with HTML entities.
func quote(lines ...string) string {
	escape := strings.NewReplacer(`"`, "#quot;", "\n", " ", "#", "#35;", "<", "#lt;")
	out := make([]string, len(lines))
	for i, line := range lines {
		out[i] = escape.Replace(line)
	}
	return `"` + strings.Join(out, "<br/>") + `"`
}

func dot(s string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`).Replace(s) + `"`
}
