package language

import (
	"slices"
	"strings"

	"github.com/pexctl/pex/dsl/diag"
)

// Endpoint is a model service under the name that other tools use, with its
// equivalent in a spec.
type Endpoint struct {
	Provider string
	BaseURL  string // "" for that of the provider
	KeyEnv   string // "" for the provider's default
}

// endpoints maps names that users write as a provider. The base URL of a service
// is that of its OpenAI-compatible API.
var endpoints = map[string]Endpoint{
	"alibaba":           {"openai", "https://dashscope-intl.aliyuncs.com/compatible-mode/v1", "DASHSCOPE_API_KEY"},
	"amazon":            {Provider: "bedrock"},
	"amazon-bedrock":    {Provider: "bedrock"},
	"aws":               {Provider: "bedrock"},
	"azure":             {Provider: "azure_openai"},
	"azure-openai":      {Provider: "azure_openai"},
	"azureopenai":       {Provider: "azure_openai"},
	"cerebras":          {"openai", "https://api.cerebras.ai/v1", "CEREBRAS_API_KEY"},
	"chatgpt":           {Provider: "openai"},
	"claude":            {Provider: "anthropic"},
	"cohere":            {"openai", "https://api.cohere.ai/compatibility/v1", "COHERE_API_KEY"},
	"deepseek":          {"openai", "https://api.deepseek.com/v1", "DEEPSEEK_API_KEY"},
	"dmr":               {Provider: "openai", BaseURL: "http://localhost:12434/engines/v1"},
	"fireworks":         {"openai", "https://api.fireworks.ai/inference/v1", "FIREWORKS_API_KEY"},
	"fireworks_ai":      {"openai", "https://api.fireworks.ai/inference/v1", "FIREWORKS_API_KEY"},
	"gemini":            {Provider: "googleai"},
	"github":            {"openai", "https://models.github.ai/inference", "GITHUB_TOKEN"},
	"google":            {Provider: "googleai"},
	"google-ai-studio":  {Provider: "googleai"},
	"google_genai":      {Provider: "googleai"},
	"gpt":               {Provider: "openai"},
	"grok":              {"openai", "https://api.x.ai/v1", "XAI_API_KEY"},
	"groq":              {"openai", "https://api.groq.com/openai/v1", "GROQ_API_KEY"},
	"huggingface":       {"openai", "https://router.huggingface.co/v1", "HF_TOKEN"},
	"litellm":           {Provider: "openai", BaseURL: "http://localhost:4000/v1"},
	"llama.cpp":         {Provider: "openai", BaseURL: "http://localhost:8080/v1"},
	"llamacpp":          {Provider: "openai", BaseURL: "http://localhost:8080/v1"},
	"llamafile":         {Provider: "openai", BaseURL: "http://localhost:8080/v1"},
	"lm_studio":         {Provider: "openai", BaseURL: "http://localhost:1234/v1"},
	"lm-studio":         {Provider: "openai", BaseURL: "http://localhost:1234/v1"},
	"lmstudio":          {Provider: "openai", BaseURL: "http://localhost:1234/v1"},
	"localai":           {Provider: "openai", BaseURL: "http://localhost:8080/v1"},
	"minimax":           {"openai", "https://api.minimax.io/v1", "MINIMAX_API_KEY"},
	"mistralai":         {Provider: "mistral"},
	"moonshot":          {"openai", "https://api.moonshot.ai/v1", "MOONSHOT_API_KEY"},
	"nebius":            {"openai", "https://api.studio.nebius.com/v1", "NEBIUS_API_KEY"},
	"nvidia":            {"openai", "https://integrate.api.nvidia.com/v1", "NVIDIA_API_KEY"},
	"nvidia_nim":        {"openai", "https://integrate.api.nvidia.com/v1", "NVIDIA_NIM_API_KEY"},
	"ollama_chat":       {Provider: "ollama"},
	"open_router":       {"openai", "https://openrouter.ai/api/v1", "OPENROUTER_API_KEY"},
	"openai-compatible": {Provider: "openai", BaseURL: "https://HOST/v1"},
	"openai_compatible": {Provider: "openai", BaseURL: "https://HOST/v1"},
	"openrouter":        {"openai", "https://openrouter.ai/api/v1", "OPENROUTER_API_KEY"},
	"perplexity":        {"openai", "https://api.perplexity.ai", "PERPLEXITY_API_KEY"},
	"sambanova":         {"openai", "https://api.sambanova.ai/v1", "SAMBANOVA_API_KEY"},
	"together":          {"openai", "https://api.together.xyz/v1", "TOGETHER_API_KEY"},
	"together_ai":       {"openai", "https://api.together.xyz/v1", "TOGETHERAI_API_KEY"},
	"togetherai":        {"openai", "https://api.together.xyz/v1", "TOGETHER_API_KEY"},
	"vertex":            {Provider: "googleai"},
	"vertex_ai":         {Provider: "googleai"},
	"vertexai":          {Provider: "googleai"},
	"vllm":              {Provider: "openai", BaseURL: "http://localhost:8000/v1"},
	"xai":               {"openai", "https://api.x.ai/v1", "XAI_API_KEY"},
}

// FindEndpoint returns the endpoint that other tools call name.
func FindEndpoint(name string) (Endpoint, bool) {
	e, ok := endpoints[strings.ToLower(name)]
	return e, ok
}

// ProviderHint returns the advice for an unknown provider.
func ProviderHint(name string, types []string) diag.Advice {
	e, ok := FindEndpoint(name)
	if !ok || !slices.Contains(types, e.Provider) {
		return diag.Suggest(name, types)
	}
	if e.BaseURL == "" {
		return diag.DidYouMean(name, e.Provider, "")
	}
	return diag.Advice{Hint: "write " + e.yaml()}
}

// yaml returns the keys of an entry of llms.
func (e Endpoint) yaml() string {
	out := "provider: " + e.Provider
	if e.BaseURL != "" {
		out += `, base_url: "` + e.BaseURL + `"`
	}
	if e.KeyEnv != "" {
		out += ", api_key_env: " + e.KeyEnv
	}
	return out
}

// ModelEntry returns the entry of llms for a model in the notation of other
// tools, such as openai/gpt-5-mini or anthropic:claude-sonnet-5, or "" if the
// text is not such a name.
func ModelEntry(text string, types []string) string {
	provider, model, ok := strings.Cut(text, "/")
	if !ok {
		provider, model, ok = strings.Cut(text, ":")
	}
	e, known := FindEndpoint(provider)
	if !known {
		e.Provider = provider
	}
	if !ok || model == "" || strings.ContainsAny(model, " {}[],") || !slices.Contains(types, e.Provider) {
		return ""
	}
	return "{" + e.yaml() + ", model: " + model + "}"
}
