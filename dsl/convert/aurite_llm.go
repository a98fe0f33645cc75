package convert

import "strings"

// vendor is who serves a model: in Aurite a prefix that LiteLLM knows.
type vendor struct {
	provider string
	base     string // address, where the provider is another's protocol
	key      string // variable of its key
}

// vendors are the prefixes of LiteLLM that have a counterpart. Addresses and
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

// unnamed stands for a model that the source does not name.
const unnamed = "to-be-filled-in"

// llm is an llm as an entry of llms, made once.
func (m *project) llm(c *component) string {
	c.used = true
	if m.llms[c.id] == nil {
		var out mapping
		m.model(&out, c.it, c.id)
		m.settings(&out, c.it)
		out.put("system_prompt", unfolded(m.words(c.it.at("default_system_prompt"))))
		m.note(c.it.at("description"), Dropped, "an llm has no description")
		m.rest(c.it, "Aurite sends no such field to a model, and neither does pexctl; fields that one provider alone has go under options, those that it does not know by name into options.extra_body")
		m.llms[c.id] = out
	}
	return c.id
}

// model writes whose model it is, and where it is asked.
func (m *project) model(out *mapping, it *item, id string) {
	given := it.at("provider")
	name := strings.ToLower(given.word())
	if name == "" {
		name = "anthropic"
		m.remind(it.file, it.path, Changed, "it names no provider: anthropic, as Aurite's default was")
	}
	v, known := vendors[name]
	base := it.at("api_base")
	switch {
	case known:
	case base != nil:
		v = vendor{provider: "openai", key: variable(name, "API_KEY")}
		m.note(given, Changed, "pexctl knows no provider %s: it is asked at its api_base as servers are that speak OpenAI's protocol", oneLine(name))
	default:
		v = vendor{"openai", "${env." + variable(name, "BASE_URL") + "}", variable(name, "API_KEY")}
		m.note(given, Todo, "pexctl knows no provider %s; where it has an endpoint that speaks OpenAI's protocol, set %s to its address", oneLine(name), variable(name, "BASE_URL"))
	}
	out.put("provider", v.provider)
	m.modelName(out, it)
	out.put("base_url", v.base)
	m.base(out, base, v.provider, id)
	m.key(out, it, v.key)
	if version := it.at("api_version"); version != nil && v.provider == "azure_openai" {
		out.put("options", mapping{{key: "api_version", value: version.word()}})
	}
}

func (m *project) modelName(out *mapping, it *item) {
	for _, key := range []string{"model", "model_name"} {
		if name := it.at(key).word(); name != "" && !out.has("model") {
			out.put("model", unfolded(name))
		}
	}
	if !out.has("model") {
		out.put("model", unnamed)
		m.remind(it.file, it.path, Todo, "it names no model: write one where %s stands", unnamed)
	}
}

// base writes an address. Ollama's own is not that of its OpenAI-compatible
// endpoint.
func (m *project) base(out *mapping, base *item, provider, id string) {
	if base == nil {
		return
	}
	address := m.address(base, variable(id, "BASE_URL"))
	if provider == "ollama" && !strings.HasSuffix(strings.TrimRight(address, "/"), "/v1") {
		address = strings.TrimRight(address, "/") + "/v1"
		m.note(base, Changed, "Ollama is asked at its OpenAI-compatible endpoint, below /v1")
	}
	out.put("base_url", address)
}

// key writes where the key is: a variable's name, never the key.
func (m *project) key(out *mapping, it *item, usual string) {
	if name := it.at("api_key_env_var"); name != nil {
		out.put("api_key_env", variable(name.word()))
	}
	if key := it.at("api_key"); key != nil {
		if !out.has("api_key_env") && usual != "" {
			out.put("api_key_env", usual)
		}
		m.note(key, Todo, "a key in a file was not taken over: set the environment variable that api_key_env names")
	}
	if !out.has("api_key_env") && out.has("base_url") && usual != "" {
		out.put("api_key_env", usual)
	}
}

// settings writes the fields that llms and agents both have; what is written
// over an llm's by an agent is told by Aurite's own rules.
func (m *project) settings(out *mapping, it *item) {
	for _, f := range []struct{ from, to string }{
		{"temperature", "temperature"},
		{"top_p", "top_p"},
		{"seed", "seed"},
		{"max_tokens", "max_output_tokens"},
		{"max_output_tokens", "max_output_tokens"},
	} {
		at := it.at(f.from)
		switch n := at.numeral(); {
		case at == nil:
		case n == nil, f.to == "max_output_tokens" && !isWhole(at), (f.to == "temperature" || f.to == "top_p") && !setting(new(mapping), f.to, at.peek()):
			m.note(at, Todo, "it is no number that %s can be, and was left out", f.to)
		default:
			at.take()
			out.put(f.to, n)
		}
	}
}
