package convert

import "strings"

// models writes the llms: of the connectors that were given, of the model that
// the agent itself describes, or, without either, of what the interface tells.
func (m *importer) models() {
	id := m.agent.at("llm", "model_id")
	planner := m.connectorFor(id.peek())
	switch model := m.agent.at("model").unfold(); {
	case model != nil && model.kind == object:
		m.llms.put("main", m.unified("main", model))
	case planner != nil:
		m.llms.put("main", planner.llm(m.iface, &m.log))
		m.note(id, Changed, "is a name of the cluster's; llms.main says which model it is, by the connector that was given")
	default:
		m.llms.put("main", m.guessed("main", id))
	}
	m.planner.put("llm", "main")
	main := m.llms.get("main").(mapping)
	if m.played != nil {
		main = m.executorModel()
	} else if other := m.connectorFor(""); other != nil {
		llm := other.llm(m.iface, &m.log)
		m.llms.put("executor", llm)
		m.executor.put("llm", "executor")
		main = llm
	}
	m.answering(main)
	options, _ := main.get("options").(mapping)
	toolless := main.get("provider") == "http" && !options.has("llm_interface")
	switch {
	case strings.HasSuffix(m.executorFace(), "deepseek_r1"):
		m.executor.put("mode", "react_text")
		m.remind(m.from, "parameters._llm_interface", Changed, "this model has no tool calls of its own: executor.mode react_text has it call tools by text, and says how; there a prompt has to")
	case toolless:
		m.executor.put("mode", "react_text")
		m.remind(m.from, "llm", Changed, "without an interface the model is asked by text alone: executor.mode react_text has it call tools by text, as there")
	}
}

// connectorFor is the connector of a model's id, else the first that is not
// used yet and leads to a model.
func (m *importer) connectorFor(id string) *connector {
	var first *connector
	for _, c := range m.connectors {
		switch {
		case c.used || c.isMCP():
		case c.calls(id):
			return c
		case first == nil:
			first = c
		}
	}
	return first
}

// unified is the form of 3.5, in which the agent describes its model itself.
func (m *importer) unified(called string, model *item) mapping {
	var out mapping
	it := model.at("model_provider")
	s := servedBy(nil, "", it.peek())
	out.put("provider", s.provider)
	m.note(it, Changed, "becomes provider: %s", s.provider)
	name := model.at("model_id").word()
	if name == "" {
		name = "MODEL"
		m.remind(model.file, below(model.path, "model_id"), Todo, "names no model: write llms.%s.model", called)
	}
	out.put("model", name)
	cred := model.at("credential").unfold()
	if region := cred.at("region"); region != nil && s.provider == "bedrock" && !unfilled(region.peek()) {
		out.put("options", mapping{{key: "region", value: region.word()}})
	}
	if cred != nil {
		m.note(cred, Changed, "secrets are not taken over: set %s in the environment", s.keyEnv)
	}
	m.modelSettings(&out, model.at("model_parameters").unfold())
	return out
}

// modelSettings takes over what a model's parameters say about its replies; the
// prompts among them are taken by the section prompts.
func (m *importer) modelSettings(out *mapping, params *item) {
	effort(out, params.at("reasoning_effort"))
	for _, s := range bodySettings {
		it, before := params.at(s.theirs), out.get(s.ours)
		if it == nil || !setting(out, s.ours, it.peek()) {
			continue
		}
		it.take()
		if s.ours != s.theirs {
			m.note(it, Changed, "is called %s here", s.ours)
		}
		if before == nil || before == out.get(s.ours) {
			continue
		}
		m.note(it, Changed, "goes over what the connector says, for each role that has this llm; there a planner does not look at it")
		for _, c := range m.connectors {
			m.note(c.body.at("parameters").at(s.theirs), Changed, "the agent's own %s goes over it", s.theirs)
		}
	}
}

// effort takes over how much a model of OpenAI's thinks.
func effort(out *mapping, it *item) {
	if provider := out.get("provider"); it.peek() == "" || provider != "openai" && provider != "azure_openai" {
		return
	}
	options, _ := out.get("options").(mapping)
	options.put("reasoning_effort", escaped(it.word()))
	out.put("options", options)
}

// guessed is the llm of which only the cluster's id is known.
func (m *importer) guessed(called string, id *item) mapping {
	s := servedBy(nil, "", m.iface)
	var out mapping
	out.put("provider", s.provider)
	name := id.peek()
	if name == "" {
		name = "MODEL"
	}
	out.say("model", name, "An id of the cluster: the model's name at the provider goes here.")
	switch {
	case id == nil:
		m.remind(m.from, "llm.model_id", Todo, "the agent names no model: write llms.%s.provider and llms.%[1]s.model", called)
	case m.iface == "" || unfilled(m.iface):
		m.note(id, Todo, "is an id of the cluster and says neither who serves the model nor which it is: import again with --connector, or write llms.%s.provider and llms.%[1]s.model", called)
	default:
		m.note(id, Todo, "is an id of the cluster: import again with --connector, or write the model's name at %s into llms.%s.model", s.provider, called)
	}
	return out
}

// answering says what becomes of the keys by which OpenSearch reads a reply.
func (m *importer) answering(main mapping) {
	provider, _ := main.get("provider").(string)
	params, llm := m.agent.at("parameters"), m.agent.at("llm", "parameters").unfold()
	m.note(params.at("_llm_interface"), Changed, "is said by provider: %s, which has the format by itself", provider)
	for _, it := range []*item{params.at("llm_response_filter"), params.at("response_filter"), llm.at("response_filter"), llm.at("llm_response_filter")} {
		switch options, _ := main.get("options").(mapping); {
		case it == nil || m.filtered(it):
		case options.has("response_filter"):
			m.note(it, Dropped, "the connector has a filter of its own: options.response_filter")
		default:
			m.note(it, Dropped, "provider %s finds the text of a reply by itself, wherever it stands", provider)
		}
	}
	own := m.llms.get("main").(mapping)
	m.modelSettings(&own, llm)
	m.llms.put("main", own)
}

// filtered gives a filter to the llms that need one and have none.
func (m *importer) filtered(it *item) (needed bool) {
	if !strings.HasPrefix(it.peek(), "$") {
		return false
	}
	for _, e := range m.llms {
		llm := e.value.(mapping)
		options, _ := llm.get("options").(mapping)
		if llm.get("provider") != "http" || options.has("llm_interface") || options.has("response_filter") {
			continue
		}
		options.put("response_filter", it.word())
		llm.put("options", options)
		m.llms.put(e.key, llm)
		needed = true
	}
	return needed
}
