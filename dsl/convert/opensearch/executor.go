package opensearch

import (
	"strings"

	"github.com/pexctl/pex/dsl/convert"
	"github.com/pexctl/pex/dsl/convert/internal/tree"
)

// findExecutorAgent finds the executor's agent among those given: the one with
// the id in executor_agent_id, or the only one if the source has no ids.
// OpenSearch accepts only a conversational agent.
func (m *importer) findExecutorAgent() {
	id := m.agent.Get("parameters").Decode().Get("executor_agent_id").Peek()
	if id == "" || !m.plans() {
		return
	}
	if node := fromNode().FindStringSubmatch(id); node != nil {
		id = node[1]
	}
	var only *tree.Value
	for _, it := range m.others {
		switch {
		case !isAgent(it) || !isChat(strings.ToLower(it.Get("type").Peek())):
		case m.hasID(it, id):
			m.executorAgent = it
		case m.ids[it] == "*":
			only = it
		}
	}
	if m.executorAgent == nil {
		m.executorAgent = only
	}
}

// hasID reports whether an agent has an id.
func (m *importer) hasID(it *tree.Value, id string) bool {
	for _, key := range []string{"agent_id", "_id", "id", "name"} {
		if it.Get(key).Peek() == id {
			return true
		}
	}
	return m.ids[it] == id
}

// asToolOwner calls do for the agent that has the tools: the executor's agent if
// it is given and has some.
func (m *importer) asToolOwner(do func()) {
	e := m.executorAgent
	if e == nil {
		do()
		return
	}
	e.Get("parameters").Decode()
	if !hasItems(e.Get("tools").Decode()) && !hasItems(e.Get("parameters", "mcp_connectors").Decode()) {
		m.NoteAt(e.File, tree.Join(e.Path, "tools"), convert.Todo, "the executor's agent has no tools; it is given those that the planner is shown")
		do()
		return
	}
	const why = "steps are carried out with the tools of the executor's agent; here the planner is shown the same ones"
	m.Note(m.agent.Get("tools"), convert.Changed, why)
	m.Note(m.agent.Get("parameters", "mcp_connectors"), convert.Changed, why)
	m.asAgent(e, do)
}

func hasItems(list *tree.Value) bool { return list != nil && len(list.Items) > 0 }

// asAgent calls do with another agent in place of the imported one.
func (m *importer) asAgent(other *tree.Value, do func()) {
	own := m.agent
	m.agent = other
	do()
	m.agent = own
}

// executorSettings converts the settings of the executor's agent beside its model
// and tools. In OpenSearch the executor is a separate agent whose question is the
// step.
func (m *importer) executorSettings() {
	e := m.executorAgent
	if e == nil {
		return
	}
	params, llm := e.Get("parameters"), e.Get("llm", "parameters").Decode()
	for _, at := range []*tree.Value{params, llm} {
		for _, key := range []string{"max_iteration", "max_iterations"} {
			m.iterations(at.Get(key))
		}
		for _, n := range droppedParameters {
			m.Note(at.Get(n.key), n.fate, "%s", n.what)
		}
		m.NoteKeys(at, []string{"inject_datetime", "datetime_format"}, convert.Dropped, "whether prompts hold the time is said once, for all roles")
		if it := at.Get("prompt"); isQuestion(it.Peek()) {
			m.Note(it, convert.Dropped, "a step is what its executor is asked, here too")
		}
		m.Note(at.Get("response_filter"), convert.Dropped, "the llm's provider finds the text of a reply")
	}
	m.Note(params.Get("_llm_interface"), convert.Changed, "is said by the llm's provider, which has the format by itself")
	m.limit(tree.First(params.Get("message_history_limit"), llm.Get("message_history_limit")), "executor_message_history_limit")
	m.asAgent(e, func() {
		m.selected(params.Get("selected_tools").Decode())
		m.executorPrompts(params, llm)
		m.plainParameters(params)
	})
	m.NoteKeys(e, []string{"name", "description", "app_type", "type"}, convert.Dropped, "the executor is a part of this spec and has no name of its own")
	m.Note(e.Get("memory"), convert.Dropped, "a step's conversation ends with the run it belongs to")
	m.NoteKeys(e, clusterKeys, convert.Dropped, "was written by the cluster")
	m.NoteUnused(e, "nothing in a spec stands for it, and nothing that is known of OpenSearch's agents reads it")
	e.Use()
}

// clusterKeys are keys that the cluster adds to an agent.
var clusterKeys = []string{"created_time", "last_updated_time", "last_update_time", "agent_id", "id", "_id"}

// executorModel converts the LLM of the executor's agent, which executes the
// steps.
func (m *importer) executorModel() tree.Map {
	id, model := m.executorAgent.Get("llm", "model_id"), m.executorAgent.Get("model").Decode()
	planners := m.agent.Get("llm", "model_id").Peek()
	var llm tree.Map
	c := m.connectorFor(id.Peek())
	switch {
	case model != nil && model.Kind == tree.Object:
		llm = m.inlineModel("executor", model)
	case id.Peek() != "" && id.Peek() == planners:
		m.Note(id, convert.Changed, "is the planner's model: one llm serves both")
		return m.llms.Get("main").(tree.Map)
	case c != nil:
		llm = c.llm(m.executorInterface(), &m.Log)
		m.Note(id, convert.Changed, "is a name of the cluster's; llms.executor says which model it is, by the connector that was given")
	default:
		llm = m.unknownModel("executor", id)
	}
	m.llms.Put("executor", llm)
	m.executor.Put("llm", "executor")
	return llm
}

// executorInterface returns the interface of the executor's model.
func (m *importer) executorInterface() string {
	if m.executorAgent == nil {
		return m.iface
	}
	for _, it := range []*tree.Value{m.executorAgent.Get("parameters").Decode().Get("_llm_interface"), m.executorAgent.Get("model", "model_provider")} {
		if face := it.Peek(); face != "" {
			return face
		}
	}
	return m.iface
}
