package convert

import (
	"cmp"
	"fmt"
)

// stepsOf is the steps of a linear workflow, with their names and, where the
// source tells it, their kinds.
func stepsOf(c *component) (steps []*item, names, kinds []string) {
	at := c.it.at("steps")
	if at == nil {
		return nil, nil, nil
	}
	for _, it := range at.items {
		name, typ := it.peek(), ""
		if it.kind == object {
			name = it.at("name").peek()
			if word := it.at("type").peek(); word != "" {
				typ = cmp.Or(kindsByType[word], "unknown")
			}
		}
		steps, names, kinds = append(steps, it), append(names, name), append(kinds, typ)
	}
	return steps, names, kinds
}

// step is the component that a step runs; nil = there is none.
func (m *project) step(name, kind string) *component {
	if kind != "" {
		return m.find(name, kind)
	}
	return m.find(name, anAgent, aLine, aGraph, aScript)
}

// below are the workflows and agents that a workflow runs itself.
func (m *project) below(c *component) (out []*component) {
	_, names, kinds := stepsOf(c)
	for i, name := range names {
		if s := m.step(name, kinds[i]); s != nil {
			out = append(out, s)
		}
	}
	if at := c.it.at("nodes"); c.kind == aGraph && at != nil {
		for _, it := range at.items {
			if s := m.find(it.at("name").peek(), anAgent); s != nil {
				out = append(out, s)
			}
		}
	}
	return out
}

// broken says why a workflow cannot be a spec; "" = it can. It looks at each
// workflow once: while it does, one that comes back to itself is one that runs
// itself.
func (m *project) broken(c *component) string {
	why, known := m.verdicts[c]
	if !known {
		m.verdicts[c] = fmt.Sprintf("%q runs itself", oneLine(c.name))
		why = m.look(c)
		m.verdicts[c] = why
	}
	return why
}

func (m *project) look(c *component) string {
	if c.kind == aGraph {
		return m.tangled(c)
	}
	_, names, kinds := stepsOf(c)
	if len(names) == 0 {
		return "it has no steps"
	}
	if len(names) > mostSteps {
		return fmt.Sprintf("it has more than %d steps", mostSteps)
	}
	for i, name := range names {
		s := m.step(name, kinds[i])
		switch {
		case s == nil:
			return fmt.Sprintf("no file given defines its step %q", oneLine(name))
		case s.kind == aScript:
			return fmt.Sprintf("its step %q is Python", oneLine(name))
		case s.kind == aLine || s.kind == aGraph:
			if why := m.broken(s); why != "" {
				return fmt.Sprintf("its step %q cannot be carried over: %s", oneLine(name), why)
			}
		}
	}
	return ""
}

// mostSteps is how many steps a workflow has at most.
const mostSteps = 200

// line is a linear workflow as a spec: a graph in which each node runs a spec on
// what the one before it answered.
func (m *project) line(c *component) mapping {
	if why := m.broken(c); why != "" {
		m.note(c.it, Dropped, "%s: the workflow was left out", why)
		return nil
	}
	steps, names, kinds := stepsOf(c)
	taken := map[string]bool{"end": true}
	var nodes []any
	before := ""
	for i := range steps {
		s := m.step(names[i], kinds[i])
		steps[i].take()
		id := unused(s.id, taken)
		n := m.node(id, s)
		if before != "" {
			n.put("question", "${steps."+before+".result}")
		}
		nodes = append(nodes, n)
		before = id
	}
	return m.flow(c, nodes)
}

// node is a step of a workflow: another spec, whose failure is the workflow's.
func (m *project) node(id string, s *component) mapping {
	return mapping{{key: "id", value: id}, {key: "type", value: "agent"}, {key: "agent", value: m.path(s)}, {key: "on_error", value: "fail"}}
}

// first is the first agent that a workflow runs: a limit that ends the run lets
// its llm write the answer.
func (m *project) first(c *component) *component {
	for range mostSteps {
		if c.kind == anAgent {
			break
		}
		c = m.below(c)[0]
	}
	return c
}

// flow is the spec of a workflow.
func (m *project) flow(c *component, nodes []any) mapping {
	var out mapping
	out.put("apiVersion", "pex/v1")
	out.put("kind", "Agent")
	out.put("metadata", m.metadata(c))
	if agent := m.first(c); m.baseOf(agent) != nil {
		out.put("include", []any{"lib.yaml"})
		m.spoken(&out, m.baseOf(agent))
	} else {
		out.put("llms", mapping{{key: "main", value: m.ownModel(agent)}})
	}
	out.put("limits", mapping{{key: "max_steps", value: len(nodes)}})
	out.put("memory", mapping{{key: "backend", value: "none"}})
	out.put("graph", mapping{{key: "nodes", value: nodes}, {key: "edges", value: chain(nodes)}})
	if at := c.it.at("include_history"); at != nil {
		m.note(at, Changed, "a workflow does not say for its agents what they remember: memory.history of each does")
	}
	m.note(c.it.at("include_logging"), Dropped, "runs keep a journal, and --events writes what happens; that is no matter of the workflow")
	m.rest(c.it, "a workflow has no such key here")
	return out
}
