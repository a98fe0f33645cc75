package aurite

import (
	"cmp"
	"fmt"

	"github.com/pexctl/pex/dsl/convert"
	"github.com/pexctl/pex/dsl/convert/internal/tree"
)

// stepsOf returns the steps of a linear workflow, with their names and, if the
// source has them, their kinds.
func stepsOf(c *component) (steps []*tree.Value, names, kinds []string) {
	at := c.it.Get("steps")
	if at == nil {
		return nil, nil, nil
	}
	for _, it := range at.Items {
		name, typ := it.Peek(), ""
		if it.Kind == tree.Object {
			name = it.Get("name").Peek()
			if word := it.Get("type").Peek(); word != "" {
				typ = cmp.Or(kindsByType[word], "unknown")
			}
		}
		steps, names, kinds = append(steps, it), append(names, name), append(kinds, typ)
	}
	return steps, names, kinds
}

// step returns the component that a step runs, or nil if there is none.
func (m *project) step(name, kind string) *component {
	if kind != "" {
		return m.find(name, kind)
	}
	return m.find(name, kindAgent, kindLinear, kindGraph, kindScript)
}

// children returns the workflows and agents that a workflow runs directly.
func (m *project) children(c *component) (out []*component) {
	_, names, kinds := stepsOf(c)
	for i, name := range names {
		if s := m.step(name, kinds[i]); s != nil {
			out = append(out, s)
		}
	}
	if at := c.it.Get("nodes"); c.kind == kindGraph && at != nil {
		for _, it := range at.Items {
			if s := m.find(it.Get("name").Peek(), kindAgent); s != nil {
				out = append(out, s)
			}
		}
	}
	return out
}

// problemOf explains why a workflow cannot be converted; it returns "" if it can.
// It visits each workflow once: reaching a workflow again during its own visit
// means that it runs itself.
func (m *project) problemOf(c *component) string {
	why, known := m.verdicts[c]
	if !known {
		m.verdicts[c] = fmt.Sprintf("%q runs itself", tree.OneLine(c.name))
		why = m.workflowProblem(c)
		m.verdicts[c] = why
	}
	return why
}

func (m *project) workflowProblem(c *component) string {
	if c.kind == kindGraph {
		return m.graphProblem(c)
	}
	_, names, kinds := stepsOf(c)
	if len(names) == 0 {
		return "it has no steps"
	}
	if len(names) > maxSteps {
		return fmt.Sprintf("it has more than %d steps", maxSteps)
	}
	for i, name := range names {
		s := m.step(name, kinds[i])
		switch {
		case s == nil:
			return fmt.Sprintf("no file given defines its step %q", tree.OneLine(name))
		case s.kind == kindScript:
			return fmt.Sprintf("its step %q is Python", tree.OneLine(name))
		case s.kind == kindLinear || s.kind == kindGraph:
			if why := m.problemOf(s); why != "" {
				return fmt.Sprintf("its step %q cannot be carried over: %s", tree.OneLine(name), why)
			}
		}
	}
	return ""
}

// maxSteps is the maximum number of steps of a workflow.
const maxSteps = 200

// linearWorkflow converts a linear workflow to a graph in which each node runs a
// spec on the answer of the node before it.
func (m *project) linearWorkflow(c *component) tree.Map {
	if why := m.problemOf(c); why != "" {
		m.Note(c.it, convert.Dropped, "%s: the workflow was left out", why)
		return nil
	}
	steps, names, kinds := stepsOf(c)
	taken := map[string]bool{"end": true}
	var nodes []any
	before := ""
	for i := range steps {
		s := m.step(names[i], kinds[i])
		steps[i].Use()
		id := tree.UniqueName(s.id, taken)
		n := m.node(id, s)
		if before != "" {
			n.Put("question", "${steps."+before+".result}")
		}
		nodes = append(nodes, n)
		before = id
	}
	return m.workflow(c, nodes)
}

// node converts a step of a workflow: another spec, whose failure fails the
// workflow.
func (m *project) node(id string, s *component) tree.Map {
	return tree.Map{{Key: "id", Value: id}, {Key: "type", Value: "agent"}, {Key: "agent", Value: m.path(s)}, {Key: "on_error", Value: "fail"}}
}

// firstAgent returns the first agent that a workflow runs. Its LLM writes the
// answer if a limit ends the run.
func (m *project) firstAgent(c *component) *component {
	for range maxSteps {
		if c.kind == kindAgent {
			break
		}
		c = m.children(c)[0]
	}
	return c
}

// workflow returns the spec of a workflow.
func (m *project) workflow(c *component, nodes []any) tree.Map {
	var out tree.Map
	out.Put("apiVersion", "pex/v1")
	out.Put("kind", "Agent")
	out.Put("metadata", m.metadata(c))
	if agent := m.firstAgent(c); m.baseOf(agent) != nil {
		out.Put("include", []any{"lib.yaml"})
		m.putPlannerLLM(&out, m.baseOf(agent))
	} else {
		out.Put("llms", tree.Map{{Key: "main", Value: m.ownModel(agent)}})
	}
	out.Put("limits", tree.Map{{Key: "max_steps", Value: len(nodes)}})
	out.Put("memory", tree.Map{{Key: "backend", Value: "none"}})
	out.Put("graph", tree.Map{{Key: "nodes", Value: nodes}, {Key: "edges", Value: linearEdges(nodes)}})
	if at := c.it.Get("include_history"); at != nil {
		m.Note(at, convert.Changed, "a workflow does not say for its agents what they remember: memory.history of each does")
	}
	m.Note(c.it.Get("include_logging"), convert.Dropped, "runs keep a journal, and --events writes what happens; that is no matter of the workflow")
	m.NoteUnused(c.it, "a workflow has no such key here")
	return out
}
