package draft

import (
	"path"
	"slices"
	"strings"

	"github.com/pexctl/pex/dsl/convert"
	"github.com/pexctl/pex/dsl/convert/internal/tree"
	"github.com/pexctl/pex/dsl/language"
)

// Placeholder stands for a model that the source does not name.
const Placeholder = "to-be-filled-in"

// providers are the providers whose names other tools share.
var providers = []string{"openai", "azure_openai", "anthropic", "bedrock", "googleai", "mistral", "ollama"}

// modelPrefixes maps prefixes of model names to providers.
var modelPrefixes = []struct{ prefix, provider string }{
	{"gpt-", "openai"},
	{"chatgpt", "openai"},
	{"o1", "openai"},
	{"o3", "openai"},
	{"o4", "openai"},
	{"claude", "anthropic"},
	{"gemini", "googleai"},
	{"mistral", "mistral"},
	{"magistral", "mistral"},
	{"codestral", "mistral"},
}

// ProviderOf returns the provider of a model by its name, or "" if unknown.
func ProviderOf(model string) string {
	for _, m := range modelPrefixes {
		if strings.HasPrefix(strings.ToLower(model), m.prefix) {
			return m.provider
		}
	}
	return ""
}

// IsKnownProvider reports whether a provider has a counterpart.
func IsKnownProvider(provider string) bool {
	_, ok := language.FindEndpoint(provider)
	return ok || slices.Contains(providers, strings.ToLower(provider))
}

// Model returns an entry of llms with a provider and the name of a model there.
// at is the value that names the provider, for the note about an unknown one.
func (s *Spec) Model(at *tree.Value, provider, model string) (out tree.Map) {
	provider = strings.ToLower(provider)
	e, ok := language.FindEndpoint(provider)
	switch {
	case ok:
	case slices.Contains(providers, provider):
		e.Provider = provider
	default:
		base := tree.Variable(provider, "BASE_URL")
		e = language.Endpoint{Provider: "openai", BaseURL: "${env." + base + "}", KeyEnv: tree.Variable(provider, "API_KEY")}
		if at != nil {
			s.NoteAt(at.File, at.Path, convert.Todo, "pex has no provider %q: if it has an OpenAI-compatible endpoint, set %s to its URL", tree.Clip(provider), base)
		}
	}
	if e.Provider == "googleai" && ProviderOf(model) == "anthropic" {
		e.Provider = "anthropic" // of Vertex AI
		if at != nil {
			s.NoteAt(at.File, at.Path, convert.Changed, "pex calls Claude models at Anthropic, not at Vertex AI; base_url leads elsewhere")
		}
	}
	if e.Provider == "azure_openai" && e.BaseURL == "" {
		e.BaseURL = "${env.AZURE_OPENAI_ENDPOINT}"
	}
	out.Put("provider", e.Provider)
	if model == "" {
		model = Placeholder
		if at != nil {
			s.NoteAt(at.File, at.Path, convert.Todo, "the source names no model: replace %s", Placeholder)
		}
	}
	out.Put("model", tree.EscapeReferences(model))
	out.Put("base_url", e.BaseURL)
	out.Put("api_key_env", e.KeyEnv)
	return out
}

// ParseModel returns the LLM of a model in the notation of other tools, such as
// openai/gpt-5-mini, and a name for it.
func (s *Spec) ParseModel(at *tree.Value, text string) (name string, entry tree.Map) {
	provider, model, ok := strings.Cut(text, "/")
	if !ok || !IsKnownProvider(provider) && ProviderOf(text) != "" {
		provider, model = ProviderOf(text), text
	}
	if provider == "" {
		s.Note(at, convert.Todo, "the source names no provider of the model %q: check provider under llms", tree.Clip(text))
		provider = "openai"
	}
	return ShortName(model), s.Model(at, provider, model)
}

// ModelName adds the LLM of a model in the notation of other tools, and returns
// its name.
func (s *Spec) ModelName(at *tree.Value, text string) string {
	return s.AddLLM(s.ParseModel(at, text))
}

// ShortName returns the name of an LLM for its model.
func ShortName(model string) string {
	if i := strings.LastIndexByte(model, '/'); i >= 0 && i+1 < len(model) {
		model = model[i+1:]
	}
	model = strings.NewReplacer(".", "-", ":", "-", "@", "-").Replace(model)
	if model == "" {
		return "main"
	}
	return model
}

// Settings writes temperature, top_p, seed and the maximum number of output
// tokens of an LLM. keys are the names of the source, each with the name here.
func (s *Spec) Settings(out *tree.Map, it *tree.Value, keys map[string]string) {
	if it == nil {
		return
	}
	for _, key := range it.Keys {
		to, at := keys[key], it.Get(key)
		if to == "" || at == nil {
			continue
		}
		if to == "seed" {
			if n, ok := at.UseInt(); ok {
				out.Put(to, n)
			}
			continue
		}
		if at.Number() == nil || !tree.PutModelSetting(out, to, at.Peek()) {
			s.Note(at, convert.Todo, "it is not a valid %s and was left out", to)
			continue
		}
		at.Use()
	}
}

// ServerName returns a name for an MCP server: from the last word of its command
// that looks like a server's package, or else from the program.
func ServerName(words []string) string {
	name := words[0]
	for _, w := range words {
		if !strings.HasPrefix(w, "-") && (strings.Contains(w, "mcp") || strings.Contains(w, "server")) {
			name = w
		}
	}
	name = path.Base(name)
	name = strings.TrimSuffix(name, path.Ext(name))
	for _, affix := range []string{"server-", "mcp-server-", "mcp-"} {
		name = strings.TrimPrefix(name, affix)
	}
	for _, affix := range []string{"-mcp-server", "-server", "-mcp"} {
		name = strings.TrimSuffix(name, affix)
	}
	return name
}
