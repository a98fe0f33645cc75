package aurite

import (
	"slices"

	"github.com/pexctl/pex/dsl/convert"
	"github.com/pexctl/pex/dsl/convert/internal/tree"
)

// agentTurns is the default number of turns of Aurite's loop.
const agentTurns = 50

// plainPrompt is the system prompt of an agent without one. The executor's
// default prompt does not fit, because it refers to a plan.
const plainPrompt = "Answer the question. Use the tools where they help, and go by what they return."

// agent converts an agent to a spec. Aurite's agents do not plan: they are a loop
// of a model and its tools. The spec therefore defines its own graph: an executor
// whose only step is the question or, without tools, a finalizer that answers in
// one call. If the answer has a schema, the finalizer writes it, because only the
// finalizer enforces one.
func (m *project) agent(c *component) tree.Map {
	servers := m.serversOf(c)
	var out tree.Map
	out.Put("apiVersion", "pex/v1")
	out.Put("kind", "Agent")
	out.Put("metadata", m.metadata(c))
	out.Put("include", m.includes(c, servers))
	m.putLLM(&out, c)
	m.inline(&out, servers)
	role := m.role(c)
	schema := m.schema(c)
	if schema != nil {
		m.allowSchemaFailure(c, role)
	}
	prompt := m.prompt(c)
	nodes := []any{}
	if len(servers) > 0 {
		if prompt == "" {
			prompt = plainPrompt
			m.NoteAt(c.it.File, c.it.Path, convert.Changed, "it has no system prompt, and Aurite sends none; here one says to answer the question, since the default is about plans")
		}
		executor := slices.Clone(role)
		executor.Put("executor_system_prompt", prompt)
		executor.Put("exclude_tools", m.excluded(c, servers))
		executor.Put("on_step_error", "fail")
		out.Put("executor", executor)
		nodes = append(nodes, tree.Map{{Key: "id", Value: "work"}, {Key: "type", Value: "executor"}})
	}
	if len(servers) == 0 || schema != nil {
		out.Put("finalizer", m.finalizer(c, role, prompt, len(servers) > 0))
		nodes = append(nodes, tree.Map{{Key: "id", Value: "answer"}, {Key: "type", Value: "finalizer"}})
	}
	out.Put("limits", m.limits(c, len(servers) > 0))
	out.Put("output", m.output(c, schema, len(servers) > 0))
	out.Put("memory", m.memory(c))
	out.Put("graph", tree.Map{{Key: "nodes", Value: nodes}, {Key: "edges", Value: linearEdges(nodes)}})
	m.excluded(c, nil)
	m.droppedFields(c)
	m.NoteUnused(c.it, "an agent has no such key here")
	return out
}

// linearEdges returns edges from each node to the next, and from the last one to
// the end.
func linearEdges(nodes []any) (edges []any) {
	for i, n := range nodes {
		to := any("end")
		if i+1 < len(nodes) {
			to = nodes[i+1].(tree.Map).Get("id")
		}
		edges = append(edges, tree.Map{{Key: "from", Value: n.(tree.Map).Get("id")}, {Key: "to", Value: to}})
	}
	return edges
}

func (m *project) metadata(c *component) tree.Map {
	out := tree.Map{{Key: "name", Value: c.id}}
	out.Put("description", tree.Sentence(m.UseRedacted(c.it.Get("description"))))
	return out
}

// serversOf returns the servers whose tools the agent has.
func (m *project) serversOf(c *component) (out []*component) {
	for _, key := range []string{"mcp_servers", "client_ids"} {
		at := c.it.Get(key)
		if at == nil {
			if slices.Contains(c.it.Keys, key) { // null means any server
				out = append(out, m.byKind(kindServer)...)
			}
			continue
		}
		if len(at.Items) == 0 {
			at.Use() // an empty list means no server
		}
		for _, it := range at.Items {
			s := m.find(it.UseText(), kindServer)
			switch {
			case s == nil:
				m.Note(it, convert.Todo, "no file given defines the server %q: give that file too, or add a tool of type mcp", tree.OneLine(it.UseText()))
			case !slices.Contains(out, s):
				out = append(out, s)
			}
		}
	}
	return slices.DeleteFunc(out, func(s *component) bool { return !hasTools(s) })
}

// includes returns the files that the agent shares with others.
func (m *project) includes(c *component, servers []*component) (out []any) {
	if m.isSingleAgent() {
		return nil
	}
	if m.baseOf(c) != nil {
		out = append(out, "lib.yaml")
	}
	for _, s := range servers {
		s.used = true
		out = append(out, s.id+".server.yaml")
	}
	return out
}

// inline writes the tools of the only agent into its own file.
func (m *project) inline(out *tree.Map, servers []*component) {
	if !m.isSingleAgent() {
		return
	}
	var tools tree.Map
	for _, s := range servers {
		tools.Put(s.id, m.server(s))
	}
	out.Put("tools", tools)
}

// prompt returns the agent's system prompt, or "" if that of its LLM applies.
func (m *project) prompt(c *component) string {
	own := m.UseRedacted(c.it.Get("system_prompt"))
	if over := c.it.Get("llm", "system_prompt"); own == "" {
		own = m.UseRedacted(over)
	} else {
		m.Note(over, convert.Dropped, "the agent's own system_prompt goes over it")
	}
	if base := m.baseOf(c); own == "" && base != nil {
		own = base.it.Get("default_system_prompt").Peek()
	}
	return tree.EscapeReferences(own)
}

// finalizer writes the answer: in the only call of an agent without tools, or
// from the results of one with tools.
func (m *project) finalizer(c *component, role tree.Map, prompt string, works bool) tree.Map {
	out := slices.Clone(role)
	out.Put("system_prompt", prompt)
	if works {
		return out
	}
	template := "${parameters.question}"
	if yes, _ := truth(c.it.Get("include_history")); yes {
		template = "What was said before:\n${parameters.chat_history}\n\n${parameters.question}"
	}
	out.Put("finalizer_prompt_template", template)
	return out
}

// limits converts the limits of the loop. The question is the only step.
func (m *project) limits(c *component, works bool) tree.Map {
	at := c.it.Get("max_iterations")
	if !works {
		return nil
	}
	turns := agentTurns
	if n, ok := at.UseInt(); ok && n > 0 {
		turns = n
	} else {
		m.Note(at, convert.Todo, "it should be a whole number from 1; %d was taken, Aurite's default", agentTurns)
	}
	return tree.Map{{Key: "max_steps", Value: 1}, {Key: "executor_max_iterations", Value: turns}}
}

// memory converts the conversation that outlives a run, if the agent has one.
func (m *project) memory(c *component) tree.Map {
	at := c.it.Get("include_history")
	yes, ok := truth(at)
	if at != nil && !ok {
		m.Note(at, convert.Todo, "it should be true or false, and was taken for false")
	}
	if !yes {
		return tree.Map{{Key: "backend", Value: "none"}}
	}
	m.Note(at, convert.Changed, "earlier questions and answers are given to the model where a run names its conversation by --memory-id; Aurite also gives it the calls of tools")
	return tree.Map{{Key: "history", Value: true}}
}

func truth(it *tree.Value) (yes, ok bool) {
	if it == nil {
		return false, false
	}
	return it.UseBool()
}
