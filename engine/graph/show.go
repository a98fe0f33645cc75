package graph

import (
	"encoding/json"
	"fmt"
	"strings"
)

// Mermaid draws the graph as a Mermaid flowchart, guards on the edges.
func (g *Graph[G]) Mermaid() string {
	var b strings.Builder
	b.WriteString("flowchart TD\n")
	fmt.Fprintf(&b, "    start([start]) --> %s\n", g.Start)
	for _, n := range g.Nodes {
		fmt.Fprintf(&b, "    %s[%s]\n", n.ID, quote(label(n)))
	}
	b.WriteString("    " + End + "_([end])\n")
	for _, e := range g.Edges {
		to := e.To
		if to == End {
			to += "_" // "end" is a word of Mermaid's own
		}
		arrow := " --> "
		if t := e.text(); t != "" {
			arrow = " -->|" + quote(t) + "| "
		}
		b.WriteString("    " + e.From + arrow + to + "\n")
	}
	return b.String()
}

// DOT draws the graph for Graphviz.
func (g *Graph[G]) DOT() string {
	var b strings.Builder
	b.WriteString("digraph program {\n    start [shape=circle];\n    start -> " + dot(g.Start) + ";\n")
	for _, n := range g.Nodes {
		fmt.Fprintf(&b, "    %s [shape=box, label=%s];\n", dot(n.ID), dot(label(n)))
	}
	b.WriteString("    " + End + " [shape=doublecircle];\n")
	for _, e := range g.Edges {
		fmt.Fprintf(&b, "    %s -> %s", dot(e.From), dot(e.To))
		if t := e.text(); t != "" {
			b.WriteString(" [label=" + dot(t) + "]")
		}
		b.WriteString(";\n")
	}
	b.WriteString("}\n")
	return b.String()
}

type edgeJSON struct {
	From string `json:"from"`
	To   string `json:"to"`
	When string `json:"when,omitempty"`
	Each bool   `json:"each_fresh_step,omitempty"`
}

// MarshalJSON gives {start, nodes, edges}.
func (g *Graph[G]) MarshalJSON() ([]byte, error) {
	edges := make([]edgeJSON, len(g.Edges))
	for i, e := range g.Edges {
		edges[i] = edgeJSON{e.From, e.To, e.Label, e.Each}
	}
	return json.Marshal(struct {
		Start string     `json:"start"`
		Nodes []Node     `json:"nodes"`
		Edges []edgeJSON `json:"edges"`
	}{g.Start, g.Nodes, edges})
}

func (e Edge[G]) text() string {
	if e.Each && e.Label != "" {
		return "a fresh step: " + e.Label
	}
	return e.Label
}

func label(n Node) string {
	if n.ID == n.Type {
		return n.ID
	}
	return n.ID + " (" + n.Type + ")"
}

// quote writes a Mermaid string; Mermaid has no escapes but HTML entities.
func quote(s string) string {
	return `"` + strings.NewReplacer(`"`, "#quot;", "\n", " ").Replace(s) + `"`
}

func dot(s string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`).Replace(s) + `"`
}
