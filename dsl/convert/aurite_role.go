package convert

import (
	"slices"
	"strings"
)

// baseOf is the llm that an agent names, or the first there is; nil = there is
// none to take, or the agent names its model itself.
func (m *project) baseOf(c *component) *component {
	if id := c.it.at("llm_config_id").peek(); id != "" {
		return m.find(id, anLLM)
	}
	all := m.of(anLLM)
	if len(all) == 0 || c.it.at("model") != nil || c.it.at("llm", "model") != nil && c.it.at("llm", "provider") != nil {
		return nil
	}
	return all[0]
}

// speaker writes which llm the roles of a spec use: one of lib.yaml, or of the
// spec itself.
func (m *project) speaker(out *mapping, c *component) {
	base := m.baseOf(c)
	id := c.it.at("llm_config_id")
	if base == nil {
		own := m.ownModel(c)
		m.note(id, Todo, "no file given defines the llm %q: give that file too, or put the provider and its model here", oneLine(id.peek()))
		out.put("llms", mapping{{key: "main", value: own}})
		return
	}
	if id == nil {
		m.remind(c.it.file, c.it.path, Todo, "it names no llm: %s was taken, the first there is", base.id)
	}
	id.take()
	name := m.llm(base)
	if m.alone() {
		out.put("llms", mapping{{key: name, value: m.llms[name]}})
		return
	}
	m.spoken(out, base)
}

// spoken names the llm, where there are several.
func (m *project) spoken(out *mapping, llm *component) {
	if len(m.of(anLLM)) > 1 {
		out.say("planner", mapping{{key: "llm", value: m.llm(llm)}}, "Nobody plans here: the other roles use the planner's llm.")
	}
}

// role is what an agent writes over its llm.
func (m *project) role(c *component) (out mapping) {
	if m.baseOf(c) == nil {
		return nil // its own model has it all
	}
	return m.overrides(c)
}

func (m *project) overrides(c *component) (out mapping) {
	for _, it := range []*item{c.it.at("llm"), c.it} { // what the agent says itself goes over its llm's fields
		if it != nil && it.kind == object {
			m.override(&out, c, it)
		}
	}
	return out
}

// ownModel writes the model of an agent that names no llm.
func (m *project) ownModel(c *component) (out mapping) {
	name := c.it.at("model").peek()
	if name == "" {
		name = c.it.at("llm", "model").peek()
	}
	v, bare := m.maker(c, name)
	out.put("provider", v.provider)
	out.put("model", unnamed)
	out.put("base_url", v.base)
	if v.base != "" {
		out.put("api_key_env", v.key)
	}
	if name == "" {
		m.remind(c.it.file, c.it.path, Todo, "it names neither an llm nor a model: write them where %s stands", unnamed)
	}
	for _, e := range m.overrides(c) {
		out.put(e.key, e.value)
	}
	if bare != name {
		out.put("model", unfolded(bare))
	}
	return out
}

// maker is who serves the model of an agent without an llm, and its name there:
// the provider that the agent names, the prefix that LiteLLM reads, or whoever
// makes models of such names.
func (m *project) maker(c *component, name string) (v vendor, bare string) {
	for _, it := range []*item{c.it.at("llm", "provider"), c.it.at("provider")} {
		if v, ok := vendors[strings.ToLower(it.peek())]; ok {
			it.take()
			return v, name
		}
	}
	prefix, rest, ok := strings.Cut(name, "/")
	if v, known := vendors[strings.ToLower(prefix)]; ok && known && rest != "" {
		m.remind(c.it.file, c.it.path, Changed, "its model names the provider, too: %s", v.provider)
		return v, rest
	}
	v = vendors["anthropic"] // Aurite's default was
	for _, by := range []struct{ prefix, vendor string }{{"gpt-", "openai"}, {"o1", "openai"}, {"o3", "openai"}, {"o4", "openai"}, {"gemini", "gemini"}, {"mistral", "mistral"}} {
		if strings.HasPrefix(name, by.prefix) {
			v = vendors[by.vendor]
		}
	}
	if name != "" {
		m.remind(c.it.file, c.it.path, Changed, "it names a model and no provider: %s, by the model's name", v.provider)
	}
	return v, name
}

// override writes what an agent says over its llm.
func (m *project) override(out *mapping, c *component, it *item) {
	if name := it.at("model").word(); name != "" {
		out.put("model", unfolded(name))
	}
	m.settings(out, it)
	if base := it.at("api_base"); base != nil {
		out.put("base_url", m.address(base, variable(c.id, "BASE_URL")))
	}
	if key := it.at("api_key"); key != nil {
		out.put("api_key_env", variable(c.id, "API_KEY"))
		m.note(key, Todo, "a key in a file was not taken over: set the environment variable %s", variable(c.id, "API_KEY"))
	}
}

// excluded are the tools that the agent must not see. Aurite excludes by name,
// whatever has it: tools are what a model sees here.
func (m *project) excluded(c *component, servers []*component) (out []any) {
	at := c.it.at("exclude_components")
	if at == nil {
		return nil
	}
	if len(at.items) == 0 {
		at.take() // none is excluded
	}
	for _, it := range at.items {
		name := it.peek()
		switch {
		case it.done || name == "":
		case strings.Contains(name, "://"):
			m.note(it, Dropped, "no resource is shown to the model here")
		case len(servers) == 0:
			m.note(it, Dropped, "the agent has no tools of which it could be one")
		default:
			it.take()
			out = append(out, globs(name, servers)...)
		}
	}
	return out
}

// globs are the names that a tool has here: with its server before it, or that
// of each server of the agent.
func globs(name string, servers []*component) (out []any) {
	for _, s := range servers {
		if tool, ok := strings.CutPrefix(name, s.name+"-"); ok && tool != "" {
			return []any{s.id + "__" + tool}
		}
		out = append(out, s.id+"__"+name)
	}
	return out
}

func schemaOf(c *component) *item {
	return first(c.it.at("config_validation_schema"), c.it.at("schema"))
}

// schema is what the answer has to be.
func (m *project) schema(c *component) any {
	at := schemaOf(c)
	if at == nil || at.kind != object || len(at.items) == 0 {
		return nil
	}
	plain := at.plain()
	m.note(at, Changed, "Aurite validates the answer by it, whatever its name says: it is output.schema here")
	return plain
}

// output is the schema, and how often the model may mend its answer.
func (m *project) output(c *component, schema any, works bool) mapping {
	at := c.it.at("max_iterations")
	if schema == nil {
		if !works {
			m.note(at, Dropped, "an agent without tools and schema answers in one call")
		}
		return nil
	}
	out := mapping{{key: "schema", value: schema}}
	if works {
		m.remind(c.it.file, c.it.path, Changed, "an agent with tools and a schema makes one more call than in Aurite: the loop works, then the finalizer writes the answer, held to the schema")
		return out
	}
	n, ok := at.whole()
	if !ok {
		n = agentTurns
	}
	out.put("repair", mapping{{key: "max_attempts", value: min(max(n-1, 0), 10)}})
	m.note(at, Changed, "each turn of an agent without tools mends its answer: output.repair.max_attempts, at most 10")
	return out
}

// oddities notes what agents of Aurite have and specs do not.
func (m *project) oddities(c *component) {
	if yes, _ := truth(c.it.at("auto")); yes {
		m.note(c.it.at("auto"), Dropped, "no model chooses servers before the run: the tools are those of mcp_servers")
	}
	m.note(c.it.at("include_logging"), Dropped, "runs keep a journal, and --events writes what happens; that is no matter of the agent")
	if at := c.it.at("evaluation"); at != nil {
		m.note(at, Todo, "an expectation of the answer is a check of type rubric in a file of kind: Suite, which pexctl eval runs; a file's cases are its rows")
	}
}

// runs says whether a workflow has a step that is another.
func (m *project) runs(c, other *component) bool {
	return slices.Contains(m.below(c), other)
}
