package opensearch

import (
	"strings"

	"github.com/pexctl/pex/dsl/convert"
	"github.com/pexctl/pex/dsl/convert/internal/tree"
)

// models converts the LLMs: those of the given connectors, or of the model that
// the agent itself describes, or else what the interface implies.
func (m *importer) models() {
	id := m.agent.Get("llm", "model_id")
	planner := m.connectorFor(id.Peek())
	switch model := m.agent.Get("model").Decode(); {
	case model != nil && model.Kind == tree.Object:
		m.llms.Put("main", m.inlineModel("main", model))
	case planner != nil:
		m.llms.Put("main", planner.llm(m.iface, &m.Log))
		m.Note(id, convert.Changed, "is a name of the cluster's; llms.main says which model it is, by the connector that was given")
	default:
		m.llms.Put("main", m.unknownModel("main", id))
	}
	m.planner.Put("llm", "main")
	main := m.llms.Get("main").(tree.Map)
	if m.executorAgent != nil {
		main = m.executorModel()
	} else if other := m.connectorFor(""); other != nil {
		llm := other.llm(m.iface, &m.Log)
		m.llms.Put("executor", llm)
		m.executor.Put("llm", "executor")
		main = llm
	}
	m.replySettings(main)
	options, _ := main.Get("options").(tree.Map)
	toolless := main.Get("provider") == "http" && !options.Has("llm_interface")
	switch {
	case strings.HasSuffix(m.executorInterface(), "deepseek_r1"):
		m.executor.Put("mode", "react_text")
		m.NoteAt(m.from, "parameters._llm_interface", convert.Changed, "this model has no tool calls of its own: executor.mode react_text has it call tools by text, and says how; there a prompt has to")
	case toolless:
		m.executor.Put("mode", "react_text")
		m.NoteAt(m.from, "llm", convert.Changed, "without an interface the model is asked by text alone: executor.mode react_text has it call tools by text, as there")
	}
}

// connectorFor returns the connector of a model id, or else the first unused
// connector of a model.
func (m *importer) connectorFor(id string) *connector {
	var first *connector
	for _, c := range m.connectors {
		switch {
		case c.used || c.isMCP():
		case c.hasID(id):
			return c
		case first == nil:
			first = c
		}
	}
	return first
}

// inlineModel converts the format of 3.5, in which the agent describes its model
// itself.
func (m *importer) inlineModel(called string, model *tree.Value) tree.Map {
	var out tree.Map
	it := model.Get("model_provider")
	s := servedBy(nil, "", it.Peek())
	out.Put("provider", s.provider)
	m.Note(it, convert.Changed, "becomes provider: %s", s.provider)
	name := model.Get("model_id").UseText()
	if name == "" {
		name = "MODEL"
		m.NoteAt(model.File, tree.Join(model.Path, "model_id"), convert.Todo, "names no model: write llms.%s.model", called)
	}
	out.Put("model", name)
	cred := model.Get("credential").Decode()
	if region := cred.Get("region"); region != nil && s.provider == "bedrock" && !isPlaceholder(region.Peek()) {
		out.Put("options", tree.Map{{Key: "region", Value: region.UseText()}})
	}
	m.Note(cred, convert.Changed, "secrets are not taken over: set %s in the environment", s.keyEnv)
	m.modelSettings(&out, model.Get("model_parameters").Decode())
	return out
}

// modelSettings converts the reply settings of a model's parameters. Its prompts
// become the section prompts.
func (m *importer) modelSettings(out *tree.Map, params *tree.Value) {
	putReasoningEffort(out, params.Get("reasoning_effort"))
	for _, s := range bodySettings {
		it, before := params.Get(s.theirs), out.Get(s.ours)
		if it == nil || !tree.PutModelSetting(out, s.ours, it.Peek()) {
			continue
		}
		it.Use()
		if s.ours != s.theirs {
			m.Note(it, convert.Changed, "is called %s here", s.ours)
		}
		if before == nil || before == out.Get(s.ours) {
			continue
		}
		m.Note(it, convert.Changed, "goes over what the connector says, for each role that has this llm; there a planner does not look at it")
		for _, c := range m.connectors {
			m.Note(c.body.Get("parameters").Get(s.theirs), convert.Changed, "the agent's own %s goes over it", s.theirs)
		}
	}
}

// putReasoningEffort converts the reasoning effort of an OpenAI model.
func putReasoningEffort(out *tree.Map, it *tree.Value) {
	if provider := out.Get("provider"); it.Peek() == "" || provider != "openai" && provider != "azure_openai" {
		return
	}
	options, _ := out.Get("options").(tree.Map)
	options.Put("reasoning_effort", escaped(it.UseText()))
	out.Put("options", options)
}

// unknownModel returns an LLM for a model of which only the cluster's id is
// known.
func (m *importer) unknownModel(called string, id *tree.Value) tree.Map {
	s := servedBy(nil, "", m.iface)
	var out tree.Map
	out.Put("provider", s.provider)
	name := id.Peek()
	if name == "" {
		name = "MODEL"
	}
	out.PutCommented("model", name, "An id of the cluster: the model's name at the provider goes here.")
	switch {
	case id == nil:
		m.NoteAt(m.from, "llm.model_id", convert.Todo, "the agent names no model: write llms.%s.provider and llms.%[1]s.model", called)
	case m.iface == "" || isPlaceholder(m.iface):
		m.Note(id, convert.Todo, "is an id of the cluster and says neither who serves the model nor which it is: import again with --connector, or write llms.%s.provider and llms.%[1]s.model", called)
	default:
		m.Note(id, convert.Todo, "is an id of the cluster: import again with --connector, or write the model's name at %s into llms.%s.model", s.provider, called)
	}
	return out
}

// replySettings converts the keys that configure how OpenSearch reads a reply.
func (m *importer) replySettings(main tree.Map) {
	provider, _ := main.Get("provider").(string)
	params, llm := m.agent.Get("parameters"), m.agent.Get("llm", "parameters").Decode()
	m.Note(params.Get("_llm_interface"), convert.Changed, "is said by provider: %s, which has the format by itself", provider)
	for _, it := range []*tree.Value{params.Get("llm_response_filter"), params.Get("response_filter"), llm.Get("response_filter"), llm.Get("llm_response_filter")} {
		switch options, _ := main.Get("options").(tree.Map); {
		case it == nil || m.useResponseFilter(it):
		case options.Has("response_filter"):
			m.Note(it, convert.Dropped, "the connector has a filter of its own: options.response_filter")
		default:
			m.Note(it, convert.Dropped, "provider %s finds the text of a reply by itself, wherever it stands", provider)
		}
	}
	own := m.llms.Get("main").(tree.Map)
	m.modelSettings(&own, llm)
	m.llms.Put("main", own)
}

// useResponseFilter sets a filter for the LLMs that need one and have none.
func (m *importer) useResponseFilter(it *tree.Value) (needed bool) {
	if !strings.HasPrefix(it.Peek(), "$") {
		return false
	}
	for _, e := range m.llms {
		llm := e.Value.(tree.Map)
		options, _ := llm.Get("options").(tree.Map)
		if llm.Get("provider") != "http" || options.Has("llm_interface") || options.Has("response_filter") {
			continue
		}
		options.Put("response_filter", it.UseText())
		llm.Put("options", options)
		m.llms.Put(e.Key, llm)
		needed = true
	}
	return needed
}
