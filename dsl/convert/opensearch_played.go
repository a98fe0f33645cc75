package convert

import "strings"

// cast finds the agent that plays the executor among those that were given: by
// the id that executor_agent_id names, or as the only one of an import that says
// no id. OpenSearch takes a conversational one only.
func (m *importer) cast() {
	id := m.agent.at("parameters").unfold().at("executor_agent_id").peek()
	if id == "" || !m.plans() {
		return
	}
	if node := fromNode().FindStringSubmatch(id); node != nil {
		id = node[1]
	}
	var only *item
	for _, it := range m.others {
		switch {
		case !isAgent(it) || !isChat(strings.ToLower(it.at("type").peek())):
		case m.known(it, id):
			m.played = it
		case m.ids[it] == "*":
			only = it
		}
	}
	if m.played == nil {
		m.played = only
	}
}

// known says that an agent is called by an id.
func (m *importer) known(it *item, id string) bool {
	for _, key := range []string{"agent_id", "_id", "id", "name"} {
		if it.at(key).peek() == id {
			return true
		}
	}
	return m.ids[it] == id
}

// acting does something for the agent that has the tools: for the executor's,
// where it was given and has some.
func (m *importer) acting(do func()) {
	e := m.played
	if e == nil {
		do()
		return
	}
	e.at("parameters").unfold()
	if !some(e.at("tools").unfold()) && !some(e.at("parameters", "mcp_connectors").unfold()) {
		m.remind(e.file, below(e.path, "tools"), Todo, "the executor's agent has no tools; it is given those that the planner is shown")
		do()
		return
	}
	const why = "steps are carried out with the tools of the executor's agent; here the planner is shown the same ones"
	m.note(m.agent.at("tools"), Changed, why)
	m.note(m.agent.at("parameters", "mcp_connectors"), Changed, why)
	m.within(e, do)
}

func some(list *item) bool { return list != nil && len(list.items) > 0 }

// within does something as if another agent were the one that is imported.
func (m *importer) within(other *item, do func()) {
	own := m.agent
	m.agent = other
	do()
	m.agent = own
}

// executorPlayed takes over what the executor's agent says beside its model and
// its tools: an executor is such an agent, with the plan's step as its question.
func (m *importer) executorPlayed() {
	e := m.played
	if e == nil {
		return
	}
	params, llm := e.at("parameters"), e.at("llm", "parameters").unfold()
	for _, at := range []*item{params, llm} {
		for _, key := range []string{"max_iteration", "max_iterations"} {
			m.iterations(at.at(key))
		}
		for _, n := range needless {
			m.note(at.at(n.key), n.fate, "%s", n.what)
		}
		for _, key := range []string{"inject_datetime", "datetime_format"} {
			m.note(at.at(key), Dropped, "whether prompts hold the time is said once, for all roles")
		}
		if it := at.at("prompt"); isQuestion(it.peek()) {
			m.note(it, Dropped, "a step is what its executor is asked, here too")
		}
		m.note(at.at("response_filter"), Dropped, "the llm's provider finds the text of a reply")
	}
	m.note(params.at("_llm_interface"), Changed, "is said by the llm's provider, which has the format by itself")
	m.limit(first(params.at("message_history_limit"), llm.at("message_history_limit")), "executor_message_history_limit")
	m.within(e, func() {
		m.selected(params.at("selected_tools").unfold())
		m.executorPrompts(params, llm)
		m.plainParameters(params)
	})
	for _, key := range []string{"name", "description", "app_type", "type"} {
		m.note(e.at(key), Dropped, "the executor is a part of this spec and has no name of its own")
	}
	m.note(e.at("memory"), Dropped, "a step's conversation ends with the run it belongs to")
	for _, key := range written {
		m.note(e.at(key), Dropped, "was written by the cluster")
	}
	m.rest(e, "nothing in a spec stands for it, and nothing that is known of OpenSearch's agents reads it")
	e.take()
}

// written are keys that the cluster adds to an agent.
var written = []string{"created_time", "last_updated_time", "last_update_time", "agent_id", "id", "_id"}

// executorModel writes the llm of the executor's agent; it is the llm that steps
// are carried out with.
func (m *importer) executorModel() mapping {
	id, model := m.played.at("llm", "model_id"), m.played.at("model").unfold()
	planners := m.agent.at("llm", "model_id").peek()
	var llm mapping
	c := m.connectorFor(id.peek())
	switch {
	case model != nil && model.kind == object:
		llm = m.unified("executor", model)
	case id.peek() != "" && id.peek() == planners:
		m.note(id, Changed, "is the planner's model: one llm serves both")
		return m.llms.get("main").(mapping)
	case c != nil:
		llm = c.llm(m.executorFace(), &m.log)
		m.note(id, Changed, "is a name of the cluster's; llms.executor says which model it is, by the connector that was given")
	default:
		llm = m.guessed("executor", id)
	}
	m.llms.put("executor", llm)
	m.executor.put("llm", "executor")
	return llm
}

// executorFace is the interface by which the executor's model is asked.
func (m *importer) executorFace() string {
	if m.played == nil {
		return m.iface
	}
	for _, it := range []*item{m.played.at("parameters").unfold().at("_llm_interface"), m.played.at("model", "model_provider")} {
		if face := it.peek(); face != "" {
			return face
		}
	}
	return m.iface
}
