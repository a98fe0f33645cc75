package aurite

import (
	"slices"
	"strings"

	"github.com/pexctl/pex/dsl/convert"
	"github.com/pexctl/pex/dsl/convert/internal/tree"
)

// baseOf returns the LLM that an agent names, or else the first one. It returns
// nil if there is none, or if the agent names its model itself.
func (m *project) baseOf(c *component) *component {
	if id := c.it.Get("llm_config_id").Peek(); id != "" {
		return m.find(id, kindLLM)
	}
	all := m.byKind(kindLLM)
	if len(all) == 0 || c.it.Get("model") != nil || c.it.Get("llm", "model") != nil && c.it.Get("llm", "provider") != nil {
		return nil
	}
	return all[0]
}

// putLLM writes the LLM of the roles of a spec: one of lib.yaml, or of the spec
// itself.
func (m *project) putLLM(out *tree.Map, c *component) {
	base := m.baseOf(c)
	id := c.it.Get("llm_config_id")
	if base == nil {
		own := m.ownModel(c)
		m.Note(id, convert.Todo, "no file given defines the llm %q: give that file too, or put the provider and its model here", tree.OneLine(id.Peek()))
		out.Put("llms", tree.Map{{Key: "main", Value: own}})
		return
	}
	if id == nil {
		m.NoteAt(c.it.File, c.it.Path, convert.Todo, "it names no llm: %s was taken, the first there is", base.id)
	}
	id.Use()
	name := m.llm(base)
	if m.isSingleAgent() {
		out.Put("llms", tree.Map{{Key: name, Value: m.llms[name]}})
		return
	}
	m.putPlannerLLM(out, base)
}

// putPlannerLLM writes the LLM of the planner if there are several.
func (m *project) putPlannerLLM(out *tree.Map, llm *component) {
	if len(m.byKind(kindLLM)) > 1 {
		out.PutCommented("planner", tree.Map{{Key: "llm", Value: m.llm(llm)}}, "There is no planning; the other roles use the planner's LLM.")
	}
}

// role returns the settings of an agent that override its LLM.
func (m *project) role(c *component) (out tree.Map) {
	if m.baseOf(c) == nil {
		return nil // its own model has all settings
	}
	return m.overrides(c)
}

func (m *project) overrides(c *component) (out tree.Map) {
	for _, it := range []*tree.Value{c.it.Get("llm"), c.it} { // settings of the agent override those of its LLM
		if it != nil && it.Kind == tree.Object {
			m.override(&out, c, it)
		}
	}
	return out
}

// ownModel writes the model of an agent that names no LLM.
func (m *project) ownModel(c *component) (out tree.Map) {
	name := c.it.Get("model").Peek()
	if name == "" {
		name = c.it.Get("llm", "model").Peek()
	}
	v, bare := m.modelVendor(c, name)
	out.Put("provider", v.provider)
	out.Put("model", placeholderModel)
	out.Put("base_url", v.base)
	if v.base != "" {
		out.Put("api_key_env", v.key)
	}
	if name == "" {
		m.NoteAt(c.it.File, c.it.Path, convert.Todo, "it names neither an llm nor a model: write them where %s stands", placeholderModel)
	}
	for _, e := range m.overrides(c) {
		out.Put(e.Key, e.Value)
	}
	if bare != name {
		out.Put("model", tree.EscapeReferences(bare))
	}
	return out
}

// modelVendor returns the provider of the model of an agent without an LLM, and
// the model's name there: the provider that the agent names, the prefix that
// LiteLLM reads, or the provider of models with similar names.
func (m *project) modelVendor(c *component, name string) (v vendor, bare string) {
	for _, it := range []*tree.Value{c.it.Get("llm", "provider"), c.it.Get("provider")} {
		if v, ok := vendors[strings.ToLower(it.Peek())]; ok {
			it.Use()
			return v, name
		}
	}
	prefix, rest, ok := strings.Cut(name, "/")
	if v, known := vendors[strings.ToLower(prefix)]; ok && known && rest != "" {
		m.NoteAt(c.it.File, c.it.Path, convert.Changed, "its model names the provider, too: %s", v.provider)
		return v, rest
	}
	v = vendors["anthropic"] // Aurite's default
	for _, by := range []struct{ prefix, vendor string }{{"gpt-", "openai"}, {"o1", "openai"}, {"o3", "openai"}, {"o4", "openai"}, {"gemini", "gemini"}, {"mistral", "mistral"}} {
		if strings.HasPrefix(name, by.prefix) {
			v = vendors[by.vendor]
		}
	}
	if name != "" {
		m.NoteAt(c.it.File, c.it.Path, convert.Changed, "it names a model and no provider: %s, by the model's name", v.provider)
	}
	return v, name
}

// override writes the settings of an agent that override its LLM.
func (m *project) override(out *tree.Map, c *component, it *tree.Value) {
	if name := it.Get("model").UseText(); name != "" {
		out.Put("model", tree.EscapeReferences(name))
	}
	m.settings(out, it)
	if base := it.Get("api_base"); base != nil {
		out.Put("base_url", m.address(base, tree.Variable(c.id, "BASE_URL")))
	}
	if key := it.Get("api_key"); key != nil {
		out.Put("api_key_env", tree.Variable(c.id, "API_KEY"))
		m.Note(key, convert.Todo, "a key in a file was not taken over: set the environment variable %s", tree.Variable(c.id, "API_KEY"))
	}
}

// excluded returns the tools that the agent must not see. Aurite excludes any
// component by name; here only tools are visible to a model.
func (m *project) excluded(c *component, servers []*component) (out []any) {
	at := c.it.Get("exclude_components")
	if at == nil {
		return nil
	}
	if len(at.Items) == 0 {
		at.Use() // nothing is excluded
	}
	for _, it := range at.Items {
		name := it.Peek()
		switch {
		case it.Used || name == "":
		case strings.Contains(name, "://"):
			m.Note(it, convert.Dropped, "no resource is shown to the model here")
		case len(servers) == 0:
			m.Note(it, convert.Dropped, "the agent has no tools of which it could be one")
		default:
			it.Use()
			out = append(out, excludePatterns(name, servers)...)
		}
	}
	return out
}

// excludePatterns returns the names of a tool in the spec: prefixed with its
// server, or with each server of the agent.
func excludePatterns(name string, servers []*component) (out []any) {
	for _, s := range servers {
		if tool, ok := strings.CutPrefix(name, s.name+"-"); ok && tool != "" {
			return []any{s.id + "__" + tool}
		}
		out = append(out, s.id+"__"+name)
	}
	return out
}

func schemaOf(c *component) *tree.Value {
	return tree.First(c.it.Get("config_validation_schema"), c.it.Get("schema"))
}

// schema returns the JSON Schema of the answer.
func (m *project) schema(c *component) any {
	at := schemaOf(c)
	if at == nil || at.Kind != tree.Object || len(at.Items) == 0 {
		return nil
	}
	plain := at.Native()
	m.Note(at, convert.Changed, "Aurite validates the answer by it, whatever its name says: it is output.schema here")
	return plain
}

// output returns the schema, and how often the model may repair its answer.
func (m *project) output(c *component, schema any, works bool) tree.Map {
	at := c.it.Get("max_iterations")
	if schema == nil {
		if !works {
			m.Note(at, convert.Dropped, "an agent without tools and schema answers in one call")
		}
		return nil
	}
	out := tree.Map{{Key: "schema", Value: schema}}
	if works {
		m.NoteAt(c.it.File, c.it.Path, convert.Changed, "an agent with tools and a schema makes one more call than in Aurite: the loop works, then the finalizer writes the answer, held to the schema")
		return out
	}
	n, ok := at.UseInt()
	if !ok {
		n = agentTurns
	}
	out.Put("repair", tree.Map{{Key: "max_attempts", Value: min(max(n-1, 0), 10)}})
	m.Note(at, convert.Changed, "each turn of an agent without tools repairs its answer: output.repair.max_attempts, at most 10")
	return out
}

// droppedFields notes the fields of agents that have no counterpart.
func (m *project) droppedFields(c *component) {
	if yes, _ := truth(c.it.Get("auto")); yes {
		m.Note(c.it.Get("auto"), convert.Dropped, "no model chooses servers before the run: the tools are those of mcp_servers")
	}
	m.Note(c.it.Get("include_logging"), convert.Dropped, "runs keep a journal, and --events writes what happens; that is no matter of the agent")
	if at := c.it.Get("evaluation"); at != nil {
		m.Note(at, convert.Todo, "an expectation of the answer is a check of type rubric in a file of kind: Suite, which pexctl eval runs; a file's cases are its rows")
	}
}

// runs reports whether other is a step of a workflow.
func (m *project) runs(c, other *component) bool {
	return slices.Contains(m.children(c), other)
}
