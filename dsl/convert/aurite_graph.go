package convert

import (
	"fmt"
	"slices"
	"strings"
)

// web is a graph workflow as a spec. Its nodes run one after another, each after
// all that lead to it, and get what those answered.
func (m *project) web(c *component) mapping {
	if why := m.broken(c); why != "" {
		m.note(c.it, Dropped, "%s: the workflow was left out", why)
		return nil
	}
	order, before := ordered(c)
	ids, taken := map[string]string{}, map[string]bool{"end": true, "answers": true}
	var nodes []any
	for _, at := range order {
		name := at.at("node_id").word()
		ids[name] = unused(identifier(name, "node"), taken)
		n := m.node(ids[name], m.find(at.at("name").word(), anAgent))
		at.at("type").take()
		n.put("question", results(before[name], ids))
		nodes = append(nodes, n)
	}
	if last := sinks(order, before); len(last) > 1 {
		nodes = append(nodes, mapping{{key: "id", value: "answers"}, {key: "type", value: "transform"}, {key: "template", value: results(last, ids)}})
		m.remind(c.it.file, c.it.path, Changed, "several nodes lead nowhere: the answer is all of theirs, one below the other")
	}
	m.note(c.it.at("edges"), Changed, "the nodes run one after another, each behind those that lead to it; none side by side")
	return m.flow(c, nodes)
}

// results are references to what nodes answered, as Aurite joins them.
func results(names []string, ids map[string]string) string {
	var refs []string
	for _, name := range names {
		refs = append(refs, "${steps."+ids[name]+".result}")
	}
	return strings.Join(refs, "\n\n")
}

// tangled says why a graph cannot be put in order; "" = it can.
func (m *project) tangled(c *component) string {
	at := c.it.at("nodes")
	if at == nil || len(at.items) == 0 {
		return "it has no nodes"
	}
	seen := map[string]bool{}
	for _, it := range at.items {
		id, name := it.at("node_id").peek(), it.at("name").peek()
		switch {
		case id == "" || seen[id]:
			return "a node has no node_id of its own"
		case m.find(name, anAgent) == nil:
			return fmt.Sprintf("no file given defines the agent %q", oneLine(name))
		}
		seen[id] = true
	}
	for _, e := range edgesOf(c) {
		if !seen[e[0]] || !seen[e[1]] {
			return "an edge names a node that is not there"
		}
	}
	if order, _ := ordered(c); len(order) < len(at.items) || len(at.items) > mostSteps {
		return "its edges go round in a circle, or it is too large"
	}
	return ""
}

// edgesOf is the edges, from and to.
func edgesOf(c *component) (out [][2]string) {
	if at := c.it.at("edges"); at != nil {
		for _, it := range at.items {
			out = append(out, [2]string{it.at("from").peek(), it.at("to").peek()})
		}
	}
	return out
}

// ordered is the nodes so that each comes behind those that lead to it, and
// which those are. Nodes of a circle are not among them.
func ordered(c *component) (order []*item, before map[string][]string) {
	before = map[string][]string{}
	for _, e := range edgesOf(c) {
		if !slices.Contains(before[e[1]], e[0]) {
			before[e[1]] = append(before[e[1]], e[0])
		}
	}
	at := c.it.at("nodes")
	done := map[string]bool{}
	for range at.items {
		i := slices.IndexFunc(at.items, func(it *item) bool {
			id := it.at("node_id").peek()
			return !done[id] && !slices.ContainsFunc(before[id], func(b string) bool { return !done[b] })
		})
		if i < 0 {
			break
		}
		done[at.items[i].at("node_id").peek()] = true
		order = append(order, at.items[i])
	}
	return order, before
}

// sinks are the nodes that lead nowhere.
func sinks(order []*item, before map[string][]string) (out []string) {
	for _, it := range order {
		id := it.at("node_id").peek()
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
