package diagram

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/graph"
)

// Draw draws the graph of a program with its models, tools, guards and limits; w is
// the path of a run, or nil.
func Draw(p *engine.Program, w *graph.Path) *graph.Drawing {
	return p.Graph.Draw(w).Annotate(Notes(p))
}

// Notes returns the notes that pictures show, by node id. Notes of the whole program have
// the key "".
func Notes(p *engine.Program) map[string][]graph.Note {
	notes := map[string][]graph.Note{"": limits(&p.Limits)}
	for i := range p.Graph.Nodes {
		id := p.Graph.Nodes[i].ID
		n := &nodeNotes{p: p}
		n.asks(p.Nodes[id])
		n.plans(p.Nodes[id])
		if d, ok := p.Nodes[id].(engine.Describer); ok {
			n.notes = append(n.notes, d.Describe()...)
		}
		notes[id] = n.notes
	}
	for i := range p.Guards {
		g := &p.Guards[i]
		at := guardNodes(p, g.At, notes)
		for _, id := range at {
			notes[id] = append(notes[id], graph.Note{Kind: graph.GuardNote, Text: guardText(g)})
		}
		if len(at) == 0 {
			notes[""] = append(notes[""], graph.Note{Kind: graph.GuardNote, Text: guardText(g)})
		}
	}
	return notes
}

// nodeNotes collects the notes of a node without duplicates.
type nodeNotes struct {
	p     *engine.Program
	notes []graph.Note
}

func (n *nodeNotes) add(note graph.Note) {
	if !slices.Contains(n.notes, note) {
		n.notes = append(n.notes, note)
	}
}

// asks adds the models, agents and tools that the node may use.
func (n *nodeNotes) asks(node engine.Node) {
	b, ok := node.(engine.Bounded)
	if !ok {
		return
	}
	w := b.WorstCase(n.p)
	for _, a := range slices.Concat(w.Visit, w.Step) {
		if a.LLM != "" {
			n.add(graph.Note{Kind: graph.ModelNote, Text: modelText(n.p, a.LLM)})
		}
		if a.Agent != nil {
			n.add(graph.Note{Kind: graph.AgentNote, Text: agentText(a.Agent)})
		}
		for _, name := range a.Tools {
			n.add(toolNote(n.p, name))
		}
	}
}

// plans adds the condition under which a human approves the plans of the node.
func (n *nodeNotes) plans(node engine.Node) {
	if x, ok := node.(engine.Planner); ok {
		if when := x.PlanRules().Approval.Source; when != "" && when != "never" {
			text := whenText(when)
			if rule := x.PlanRules().Approvers; !rule.IsZero() {
				text += "; " + rule.String()
			}
			n.add(graph.Note{Kind: graph.ApprovalNote, Text: text})
		}
	}
}

// modelText returns the model of an LLM and the LLM's name: "gpt-5.4-mini (main)". An LLM
// without a model name, such as a scripted one, is shown by its provider.
func modelText(p *engine.Program, llm string) string {
	i := slices.IndexFunc(p.Models, func(m engine.ModelSpec) bool { return m.Name == llm })
	if i < 0 {
		return llm
	}
	text := cmp.Or(p.Models[i].Params.Model, p.Models[i].Provider) + " (" + llm + ")"
	if fallback := p.Models[i].Fallback; len(fallback) > 0 {
		text += ", fallback " + strings.Join(fallback, ", ")
	}
	return text
}

func agentText(p *engine.Program) string {
	if p.File != "" && p.File != p.Name {
		return p.Name + " (" + p.File + ")"
	}
	return p.Name
}

func toolNote(p *engine.Program, name string) graph.Note {
	note := graph.Note{Kind: graph.ToolNote, Text: name}
	for i := range p.Tools {
		if when := p.Tools[i].Approval.Source; p.Tools[i].Name == name && when != "never" {
			note.Approval, note.Approvers = when, p.Tools[i].Rule.String()
		}
	}
	return note
}

// guardNodes returns the nodes at which guards of a place are evaluated. Tool guards are
// evaluated at every node that calls tools.
func guardNodes(p *engine.Program, at engine.GuardPlace, notes map[string][]graph.Note) (ids []string) {
	switch at {
	case engine.BeforeTool, engine.AfterTool:
		for i := range p.Graph.Nodes {
			id := p.Graph.Nodes[i].ID
			if slices.ContainsFunc(notes[id], func(n graph.Note) bool { return n.Kind == graph.ToolNote }) {
				ids = append(ids, id)
			}
		}
		return ids
	case engine.AfterPlan:
		return engine.NodesWith[engine.Planner](p)
	case engine.AfterReflect:
		return engine.NodesWith[engine.PlanReviewer](p)
	default:
		return engine.NodesWith[engine.StepRunner](p)
	}
}

// guardText returns a guard on one line, such as
// before_tool: deny when tool.name == "x" (no_x).
func guardText(g *engine.Guard) string {
	text := fmt.Sprintf("%s: %s when %s", g.At, g.Do, g.When.Source)
	if g.Name != "" {
		text += " (" + g.Name + ")"
	}
	return text
}

func whenText(approval string) string {
	if approval == "always" {
		return approval
	}
	return "when " + approval
}

// limits returns the limits of a spec, including defaults, by key.
func limits(l *engine.Limits) (out []graph.Note) {
	add := func(key, value string) {
		out = append(out, graph.Note{Kind: graph.LimitNote, Text: key + " " + value})
	}
	for _, n := range []struct {
		key   string
		value int
	}{
		{"max_steps", l.MaxSteps}, {"max_replans", l.MaxReplans}, {"max_tool_calls", l.MaxToolCalls}, {"max_tokens", l.MaxTokens},
	} {
		if n.value > 0 {
			add(n.key, strconv.Itoa(n.value))
		}
	}
	if l.MaxCost > 0 {
		add("max_cost", dollars(l.MaxCost))
	}
	if l.MaxDuration > 0 {
		add("max_duration", durationText(l.MaxDuration))
	}
	return out
}

// dollars formats an amount with at least two decimals.
func dollars(usd float64) string {
	if text := strconv.FormatFloat(usd, 'f', -1, 64); len(text) > len(strconv.FormatFloat(usd, 'f', 2, 64)) {
		return "$" + text
	}
	return "$" + strconv.FormatFloat(usd, 'f', 2, 64)
}

// durationText formats a duration without zero units: "5m", not "5m0s".
func durationText(d time.Duration) string {
	s := d.String()
	if strings.HasSuffix(s, "m0s") {
		s = strings.TrimSuffix(s, "0s")
	}
	if strings.HasSuffix(s, "h0m") {
		s = strings.TrimSuffix(s, "0m")
	}
	return s
}
