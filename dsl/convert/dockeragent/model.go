package dockeragent

import (
	"strings"

	"github.com/pexctl/pex/dsl/convert"
	"github.com/pexctl/pex/dsl/convert/internal/draft"
	"github.com/pexctl/pex/dsl/convert/internal/tree"
)

// settings are keys of a model and their names here.
var settings = map[string]string{"temperature": "temperature", "top_p": "top_p", "max_tokens": "max_output_tokens"}

var modelReasons = []reason{
	{"thinking_budget", convert.Dropped, "set how much the model thinks under options of the llm: pexctl list provider NAME"},
	{"provider_opts", convert.Dropped, "what one provider alone has goes under options of the llm: pexctl list provider NAME"},
	{"routing", convert.Dropped, "pex does not route questions by example: choose an llm for each role, or write a router node in graph"},
	{"frequency_penalty", convert.Dropped, "put it into options.extra_body where the provider takes it"},
	{"presence_penalty", convert.Dropped, "put it into options.extra_body where the provider takes it"},
	{"parallel_tool_calls", convert.Dropped, "executor.parallel_tool_calls decides that"},
	{"track_usage", convert.Dropped, "usage is always counted"},
}

// llm returns the LLM of an agent.
func (c *config) llm(agent *tree.Value) string {
	at := agent.Get("model")
	names := strings.Split(at.UseText(), ",")
	id := c.modelOf(at, agent, strings.TrimSpace(names[0]))
	if len(names) > 1 {
		c.NoteAt(at.File, at.Path, convert.Changed, "several models take turns in docker agent; here the first one is used")
	}
	fallback := agent.Get("fallback", "models")
	if fallback == nil {
		return id
	}
	var others []any
	for _, it := range fallback.Items {
		others = append(others, c.modelOf(it, agent, it.UseText()))
	}
	entry := c.LLMs.Get(id).(tree.Map)
	if !entry.Has("fallback") {
		entry.Put("fallback", others)
		c.LLMs.Set(id, entry, "")
	}
	c.NoteUnused(agent.Get("fallback"), "retry under the llm says how often it is tried before its fallback")
	return id
}

// modelOf returns the LLM of a model: an entry of models, or provider/model.
func (c *config) modelOf(at, agent *tree.Value, name string) string {
	if id := c.llms[name]; id != "" {
		return id
	}
	def := c.root.Get("models", name)
	switch {
	case def == nil && (name == "" || name == "auto" || !strings.Contains(name, "/")):
		if at == nil {
			at = agent
		}
		c.NoteAt(at.File, at.Path, convert.Todo, "the source names no model: replace %s under llms", draft.Placeholder)
		c.llms[name] = c.AddLLM("main", tree.Map{{Key: "provider", Value: "openai"}, {Key: "model", Value: draft.Placeholder}})
	case def == nil:
		provider, model, _ := strings.Cut(name, "/")
		entry := c.servedModel(at, provider, model)
		c.llms[name] = c.AddLLM(draft.ShortName(model), entry)
	default:
		provider := def.Get("provider")
		entry := c.servedModel(provider, provider.UseText(), def.Get("model").UseText())
		c.Settings(&entry, def, settings)
		if base := def.Get("base_url"); base != nil {
			entry.Put("base_url", c.Setting(base, "", tree.Variable(name, "BASE_URL"), placeholder()))
		}
		if key := def.Get("token_key").UseText(); key != "" {
			entry.Put("api_key_env", tree.Variable(key))
		}
		c.noteDropped(def, modelReasons)
		c.NoteUnused(def, "an llm has nothing like it")
		c.llms[name] = c.AddLLM(name, entry)
	}
	return c.llms[name]
}

// servedModel returns an entry of llms, for a model of an entry of providers or of a
// known provider.
func (c *config) servedModel(at *tree.Value, provider, model string) tree.Map {
	own := c.root.Get("providers", provider)
	if own == nil {
		return c.Model(at, provider, model)
	}
	entry := c.Model(at, "openai", model)
	entry.Put("base_url", c.Setting(own.Get("base_url"), "", tree.Variable(provider, "BASE_URL"), placeholder()))
	if key := own.Get("token_key").UseText(); key != "" {
		entry.Put("api_key_env", tree.Variable(key))
	}
	if kind := own.Get("api_type").UseText(); kind == "openai_responses" {
		c.Note(own.Get("api_type"), convert.Changed, "the server is called by chat completions, not by the Responses API")
	}
	return entry
}

// documents converts the knowledge bases of an agent to tools that search files.
func (c *config) documents(agent *tree.Value) (out []any) {
	at := agent.Get("rag")
	if at == nil {
		return nil
	}
	for _, it := range at.Items {
		name := it.UseText()
		base := c.root.Get("rag", name)
		if base == nil {
			c.Note(it, convert.Todo, "the file defines no rag source %q", tree.Clip(name))
			continue
		}
		root := "."
		docs := base.Get("docs")
		if docs != nil && len(docs.Items) > 0 {
			root = strings.TrimSuffix(strings.TrimPrefix(docs.Items[0].Peek(), "./"), "/")
			docs.Use()
		}
		if root == "" || strings.Contains(root[strings.LastIndexByte(root, '/')+1:], ".") || strings.HasPrefix(root, "/") {
			root = "."
		}
		tool := tree.Map{{Key: "type", Value: "retrieve"}, {Key: "root", Value: root}}
		tool.Put("description", tree.Sentence(c.UseRedacted(base.Get("tool", "description"))))
		out = append(out, c.AddTool(name, tool))
		c.NoteKeys(base, []string{"strategies", "results"}, convert.Dropped, "retrieve has settings of its own: top_k, chunk, embeddings")
		c.Note(base, convert.Changed, "the tool retrieve searches the files below root by full text; embeddings.llm adds a search by meaning. Check root and pattern")
	}
	return out
}
