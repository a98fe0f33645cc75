package convert

import (
	"slices"
)

// agentTurns is how many turns Aurite's loop has unless the agent says it.
const agentTurns = 50

// plainPrompt is who an agent is that says nothing of itself: the executor's
// own prompt speaks of plans, and there is none.
const plainPrompt = "Answer the question. Use the tools where they help, and go by what they return."

// agent is an agent as a spec. Aurite's agents do not plan: they are one loop of
// model and tools. So the spec has a graph of its own: with tools an executor,
// whose one step is the question; without, a finalizer, which answers in one
// call. Where the answer has a schema the finalizer writes it, since it is held
// to one.
func (m *project) agent(c *component) mapping {
	servers := m.granted(c)
	var out mapping
	out.put("apiVersion", "pex/v1")
	out.put("kind", "Agent")
	out.put("metadata", m.metadata(c))
	out.put("include", m.includes(c, servers))
	m.speaker(&out, c)
	m.inline(&out, servers)
	role := m.role(c)
	schema := m.schema(c)
	if schema != nil {
		m.tolerant(c, role)
	}
	prompt := m.prompt(c)
	nodes := []any{}
	if len(servers) > 0 {
		if prompt == "" {
			prompt = plainPrompt
			m.remind(c.it.file, c.it.path, Changed, "it has no system prompt, and Aurite sends none; here one says to answer the question, since the default is about plans")
		}
		executor := slices.Clone(role)
		executor.put("executor_system_prompt", prompt)
		executor.put("exclude_tools", m.excluded(c, servers))
		executor.put("on_step_error", "fail")
		out.put("executor", executor)
		nodes = append(nodes, mapping{{key: "id", value: "work"}, {key: "type", value: "executor"}})
	}
	if len(servers) == 0 || schema != nil {
		out.put("finalizer", m.finalizer(c, role, prompt, len(servers) > 0))
		nodes = append(nodes, mapping{{key: "id", value: "answer"}, {key: "type", value: "finalizer"}})
	}
	out.put("limits", m.limits(c, len(servers) > 0))
	out.put("output", m.output(c, schema, len(servers) > 0))
	out.put("memory", m.memory(c))
	out.put("graph", mapping{{key: "nodes", value: nodes}, {key: "edges", value: chain(nodes)}})
	m.excluded(c, nil)
	m.oddities(c)
	m.rest(c.it, "an agent has no such key here")
	return out
}

// chain is the edges from each node to the next, and from the last to the end.
func chain(nodes []any) (edges []any) {
	for i, n := range nodes {
		to := any("end")
		if i+1 < len(nodes) {
			to = nodes[i+1].(mapping).get("id")
		}
		edges = append(edges, mapping{{key: "from", value: n.(mapping).get("id")}, {key: "to", value: to}})
	}
	return edges
}

func (m *project) metadata(c *component) mapping {
	out := mapping{{key: "name", value: c.id}}
	out.put("description", sentence(m.words(c.it.at("description"))))
	return out
}

// granted is the servers whose tools the agent has.
func (m *project) granted(c *component) (out []*component) {
	for _, key := range []string{"mcp_servers", "client_ids"} {
		at := c.it.at(key)
		if at == nil {
			if slices.Contains(c.it.keys, key) { // null: any of them
				out = append(out, m.of(aServer)...)
			}
			continue
		}
		if len(at.items) == 0 {
			at.take() // none is what it is given
		}
		for _, it := range at.items {
			s := m.find(it.word(), aServer)
			switch {
			case s == nil:
				m.note(it, Todo, "no file given defines the server %q: give that file too, or add a tool of type mcp", oneLine(it.word()))
			case !slices.Contains(out, s):
				out = append(out, s)
			}
		}
	}
	return slices.DeleteFunc(out, func(s *component) bool { return !offers(s) })
}

// includes are the files that the agent shares with others.
func (m *project) includes(c *component, servers []*component) (out []any) {
	if m.alone() {
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

// inline writes the tools of a single agent into its own file.
func (m *project) inline(out *mapping, servers []*component) {
	if !m.alone() {
		return
	}
	var tools mapping
	for _, s := range servers {
		tools.put(s.id, m.server(s))
	}
	out.put("tools", tools)
}

// prompt is the agent's system prompt; "" = its llm's counts, if that has one.
func (m *project) prompt(c *component) string {
	own := m.words(c.it.at("system_prompt"))
	if over := c.it.at("llm", "system_prompt"); own == "" {
		own = m.words(over)
	} else {
		m.note(over, Dropped, "the agent's own system_prompt goes over it")
	}
	if base := m.baseOf(c); own == "" && base != nil {
		own = base.it.at("default_system_prompt").peek()
	}
	return unfolded(own)
}

// finalizer writes the answer: of an agent without tools in its only call, of
// one with tools from what they gave.
func (m *project) finalizer(c *component, role mapping, prompt string, works bool) mapping {
	out := slices.Clone(role)
	out.put("system_prompt", prompt)
	if works {
		return out
	}
	template := "${parameters.question}"
	if yes, _ := truth(c.it.at("include_history")); yes {
		template = "What was said before:\n${parameters.chat_history}\n\n${parameters.question}"
	}
	out.put("finalizer_prompt_template", template)
	return out
}

// limits is how long the loop may go on. The question is the only step.
func (m *project) limits(c *component, works bool) mapping {
	at := c.it.at("max_iterations")
	if !works {
		return nil
	}
	turns := agentTurns
	if n, ok := at.whole(); ok && n > 0 {
		turns = n
	} else {
		m.note(at, Todo, "it should be a whole number from 1; %d was taken, Aurite's default", agentTurns)
	}
	return mapping{{key: "max_steps", value: 1}, {key: "executor_max_iterations", value: turns}}
}

// memory is the conversation that outlives a run, where the agent wants one.
func (m *project) memory(c *component) mapping {
	at := c.it.at("include_history")
	yes, ok := truth(at)
	if at != nil && !ok {
		m.note(at, Todo, "it should be true or false, and was taken for false")
	}
	if !yes {
		return mapping{{key: "backend", value: "none"}}
	}
	m.note(at, Changed, "earlier questions and answers are given to the model where a run names its conversation by --memory-id; Aurite also gives it the calls of tools")
	return mapping{{key: "history", value: true}}
}

func truth(it *item) (yes, ok bool) {
	if it == nil {
		return false, false
	}
	return it.truth()
}
