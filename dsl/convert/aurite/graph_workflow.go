package aurite

import (
	"fmt"
	"slices"
	"strings"

	"github.com/pexctl/pex/dsl/convert"
	"github.com/pexctl/pex/dsl/convert/internal/tree"
)

// graphWorkflow converts a graph workflow to a spec. Its nodes run one after
// another. Each runs after all its predecessors and receives their answers.
func (m *project) graphWorkflow(c *component) tree.Map {
	if why := m.problemOf(c); why != "" {
		m.Note(c.it, convert.Dropped, "%s: the workflow was left out", why)
		return nil
	}
	order, before := topologicalOrder(c)
	ids, taken := map[string]string{}, map[string]bool{"end": true, "answers": true}
	var nodes []any
	for _, at := range order {
		name := at.Get("node_id").UseText()
		ids[name] = tree.UniqueName(identifier(name, "node"), taken)
		n := m.node(ids[name], m.find(at.Get("name").UseText(), kindAgent))
		at.Get("type").Use()
		n.Put("question", results(before[name], ids))
		nodes = append(nodes, n)
	}
	if last := sinks(order, before); len(last) > 1 {
		nodes = append(nodes, tree.Map{{Key: "id", Value: "answers"}, {Key: "type", Value: "transform"}, {Key: "template", Value: results(last, ids)}})
		m.NoteAt(c.it.File, c.it.Path, convert.Changed, "several nodes lead nowhere: the answer is all of theirs, one below the other")
	}
	m.Note(c.it.Get("edges"), convert.Changed, "the nodes run one after another, each behind those that lead to it; none side by side")
	return m.workflow(c, nodes)
}

// results returns references to the answers of nodes, joined as Aurite joins
// them.
func results(names []string, ids map[string]string) string {
	var refs []string
	for _, name := range names {
		refs = append(refs, "${steps."+ids[name]+".result}")
	}
	return strings.Join(refs, "\n\n")
}

// graphProblem explains why a graph cannot be ordered; it returns "" if it can.
func (m *project) graphProblem(c *component) string {
	at := c.it.Get("nodes")
	if at == nil || len(at.Items) == 0 {
		return "it has no nodes"
	}
	seen := map[string]bool{}
	for _, it := range at.Items {
		id, name := it.Get("node_id").Peek(), it.Get("name").Peek()
		switch {
		case id == "" || seen[id]:
			return "a node has no node_id of its own"
		case m.find(name, kindAgent) == nil:
			return fmt.Sprintf("no file given defines the agent %q", tree.OneLine(name))
		}
		seen[id] = true
	}
	for _, e := range edgesOf(c) {
		if !seen[e[0]] || !seen[e[1]] {
			return "an edge names a node that is not there"
		}
	}
	if order, _ := topologicalOrder(c); len(order) < len(at.Items) || len(at.Items) > maxSteps {
		return "its edges go round in a circle, or it is too large"
	}
	return ""
}

// edgesOf returns the edges as pairs of from and to.
func edgesOf(c *component) (out [][2]string) {
	if at := c.it.Get("edges"); at != nil {
		for _, it := range at.Items {
			out = append(out, [2]string{it.Get("from").Peek(), it.Get("to").Peek()})
		}
	}
	return out
}

// topologicalOrder returns the nodes in topological order, and the predecessors of each.
// It leaves out the nodes of a cycle.
func topologicalOrder(c *component) (order []*tree.Value, before map[string][]string) {
	before = map[string][]string{}
	for _, e := range edgesOf(c) {
		if !slices.Contains(before[e[1]], e[0]) {
			before[e[1]] = append(before[e[1]], e[0])
		}
	}
	at := c.it.Get("nodes")
	done := map[string]bool{}
	for range at.Items {
		i := slices.IndexFunc(at.Items, func(it *tree.Value) bool {
			id := it.Get("node_id").Peek()
			return !done[id] && !slices.ContainsFunc(before[id], func(b string) bool { return !done[b] })
		})
		if i < 0 {
			break
		}
		done[at.Items[i].Get("node_id").Peek()] = true
		order = append(order, at.Items[i])
	}
	return order, before
}

// sinks returns the nodes without successors.
func sinks(order []*tree.Value, before map[string][]string) (out []string) {
	for _, it := range order {
		id := it.Get("node_id").Peek()
		leads := false
		for _, from := range before {
			leads = leads || slices.Contains(from, id)
		}
		if !leads {
			out = append(out, id)
		}
	}
	return out
}
