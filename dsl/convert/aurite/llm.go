package aurite

import (
	"strings"

	"github.com/pexctl/pex/dsl/convert"
	"github.com/pexctl/pex/dsl/convert/internal/tree"
)

// vendor is the provider of a model: in Aurite, a prefix that LiteLLM knows.
type vendor struct {
	provider string
	base     string // address, if the provider uses the protocol of another one
	key      string // environment variable of its key
}

// vendors maps the prefixes of LiteLLM that have a counterpart. Addresses and
// variables are those of LiteLLM's provider pages.
var vendors = map[string]vendor{
	"anthropic": {provider: "anthropic", key: "ANTHROPIC_API_KEY"},
	"openai":    {provider: "openai", key: "OPENAI_API_KEY"},
	"azure":     {provider: "azure_openai", key: "AZURE_API_KEY"},
	"bedrock":   {provider: "bedrock"},
	"gemini":    {provider: "googleai", key: "GEMINI_API_KEY"},
	"google":    {provider: "googleai", key: "GEMINI_API_KEY"},
	"mistral":   {provider: "mistral", key: "MISTRAL_API_KEY"},
	"ollama":    {provider: "ollama"}, "ollama_chat": {provider: "ollama"},
	"groq":        {"openai", "https://api.groq.com/openai/v1", "GROQ_API_KEY"},
	"openrouter":  {"openai", "https://openrouter.ai/api/v1", "OPENROUTER_API_KEY"},
	"deepseek":    {"openai", "https://api.deepseek.com/v1", "DEEPSEEK_API_KEY"},
	"xai":         {"openai", "https://api.x.ai/v1", "XAI_API_KEY"},
	"together_ai": {"openai", "https://api.together.xyz/v1", "TOGETHERAI_API_KEY"},
}

// placeholderModel stands for a model that the source does not name.
const placeholderModel = "to-be-filled-in"

// llm converts an LLM to an entry of llms, once, and returns its name.
func (m *project) llm(c *component) string {
	c.used = true
	if m.llms[c.id] == nil {
		var out tree.Map
		m.model(&out, c.it, c.id)
		m.settings(&out, c.it)
		out.Put("system_prompt", tree.EscapeReferences(m.UseRedacted(c.it.Get("default_system_prompt"))))
		m.Note(c.it.Get("description"), convert.Dropped, "an llm has no description")
		m.NoteUnused(c.it, "Aurite sends no such field to a model, and neither does pexctl; fields that one provider alone has go under options, those that it does not know by name into options.extra_body")
		m.llms[c.id] = out
	}
	return c.id
}

// model writes the provider, model and address.
func (m *project) model(out *tree.Map, it *tree.Value, id string) {
	given := it.Get("provider")
	name := strings.ToLower(given.UseText())
	if name == "" {
		name = "anthropic"
		m.NoteAt(it.File, it.Path, convert.Changed, "it names no provider: anthropic, as Aurite's default was")
	}
	v, known := vendors[name]
	base := it.Get("api_base")
	switch {
	case known:
	case base != nil:
		v = vendor{provider: "openai", key: tree.Variable(name, "API_KEY")}
		m.Note(given, convert.Changed, "pexctl knows no provider %s: it is asked at its api_base as servers are that speak OpenAI's protocol", tree.OneLine(name))
	default:
		v = vendor{"openai", "${env." + tree.Variable(name, "BASE_URL") + "}", tree.Variable(name, "API_KEY")}
		m.Note(given, convert.Todo, "pexctl knows no provider %s; where it has an endpoint that speaks OpenAI's protocol, set %s to its address", tree.OneLine(name), tree.Variable(name, "BASE_URL"))
	}
	out.Put("provider", v.provider)
	m.modelName(out, it)
	out.Put("base_url", v.base)
	m.base(out, base, v.provider, id)
	m.key(out, it, v.key)
	if version := it.Get("api_version"); version != nil && v.provider == "azure_openai" {
		out.Put("options", tree.Map{{Key: "api_version", Value: version.UseText()}})
	}
}

func (m *project) modelName(out *tree.Map, it *tree.Value) {
	for _, key := range []string{"model", "model_name"} {
		if name := it.Get(key).UseText(); name != "" && !out.Has("model") {
			out.Put("model", tree.EscapeReferences(name))
		}
	}
	if !out.Has("model") {
		out.Put("model", placeholderModel)
		m.NoteAt(it.File, it.Path, convert.Todo, "it names no model: write one where %s stands", placeholderModel)
	}
}

// base writes an address. Ollama's native address differs from that of its
// OpenAI-compatible endpoint.
func (m *project) base(out *tree.Map, base *tree.Value, provider, id string) {
	if base == nil {
		return
	}
	address := m.address(base, tree.Variable(id, "BASE_URL"))
	if provider == "ollama" && !strings.HasSuffix(strings.TrimRight(address, "/"), "/v1") {
		address = strings.TrimRight(address, "/") + "/v1"
		m.Note(base, convert.Changed, "Ollama is asked at its OpenAI-compatible endpoint, below /v1")
	}
	out.Put("base_url", address)
}

// key writes the environment variable of the key, never the key itself.
func (m *project) key(out *tree.Map, it *tree.Value, usual string) {
	if name := it.Get("api_key_env_var"); name != nil {
		out.Put("api_key_env", tree.Variable(name.UseText()))
	}
	if key := it.Get("api_key"); key != nil {
		if !out.Has("api_key_env") && usual != "" {
			out.Put("api_key_env", usual)
		}
		m.Note(key, convert.Todo, "a key in a file was not taken over: set the environment variable that api_key_env names")
	}
	if !out.Has("api_key_env") && out.Has("base_url") && usual != "" {
		out.Put("api_key_env", usual)
	}
}

// settings writes the fields that LLMs and agents share. Aurite's own rules
// decide what an agent overrides.
func (m *project) settings(out *tree.Map, it *tree.Value) {
	for _, f := range []struct{ from, to string }{
		{"temperature", "temperature"},
		{"top_p", "top_p"},
		{"seed", "seed"},
		{"max_tokens", "max_output_tokens"},
		{"max_output_tokens", "max_output_tokens"},
	} {
		at := it.Get(f.from)
		switch n := at.Number(); {
		case at == nil:
		case n == nil, f.to == "max_output_tokens" && !isWhole(at), (f.to == "temperature" || f.to == "top_p") && !tree.PutModelSetting(new(tree.Map), f.to, at.Peek()):
			m.Note(at, convert.Todo, "it is no number that %s can be, and was left out", f.to)
		default:
			at.Use()
			out.Put(f.to, n)
		}
	}
}
