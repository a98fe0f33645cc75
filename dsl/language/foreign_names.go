package language

import (
	"slices"
	"strings"

	"github.com/pexctl/pex/dsl/diag"
)

// sectionKeys are keys of other tools by the section in which they are written, and
// the key of that section that is meant: "" = the top of the file, "llms" = an
// entry of llms.
var sectionKeys = map[string]map[string]string{
	"": {"models": "llms", "model": "llms", "providers": "llms", "toolsets": "tools", "functions": "tools", "mcp_servers": "tools"},
	"limits": {
		"timeout": "max_duration", "max_time": "max_duration", "deadline": "max_duration", "max_budget": "max_cost", "budget": "max_cost",
		"max_usd": "max_cost", "max_turns": "executor_max_iterations", "recursion_limit": "max_steps",
	},
	"llms": {"name": "model", "id": "model", "deployment": "model", "engine": "model"},
}

// keyOfSection is the key of a section that a key of another tool means, or "".
func keyOfSection(key, path string, all []string) string {
	section := path
	if rest, ok := strings.CutPrefix(path, "llms."); ok && !strings.Contains(rest, ".") {
		section = "llms"
	}
	if meant := sectionKeys[section][key]; slices.Contains(all, meant) {
		return meant
	}
	return ""
}

// endpoint is a service that is reached through a provider of another name.
type endpoint struct{ provider, baseURL, keyEnv string }

// servers are names that people write as a provider, and what they write here.
var servers = map[string]endpoint{
	"gemini": {provider: "googleai"}, "google": {provider: "googleai"}, "google_genai": {provider: "googleai"},
	"google-ai-studio": {provider: "googleai"}, "vertex": {provider: "googleai"}, "vertexai": {provider: "googleai"},
	"claude": {provider: "anthropic"}, "aws": {provider: "bedrock"}, "amazon": {provider: "bedrock"}, "gpt": {provider: "openai"},
	"chatgpt": {provider: "openai"}, "azure": {provider: "azure_openai"},
	"openrouter":        {"openai", "https://openrouter.ai/api/v1", "OPENROUTER_API_KEY"},
	"groq":              {"openai", "https://api.groq.com/openai/v1", "GROQ_API_KEY"},
	"together":          {"openai", "https://api.together.xyz/v1", "TOGETHER_API_KEY"},
	"deepseek":          {"openai", "https://api.deepseek.com/v1", "DEEPSEEK_API_KEY"},
	"xai":               {"openai", "https://api.x.ai/v1", "XAI_API_KEY"},
	"fireworks":         {"openai", "https://api.fireworks.ai/inference/v1", "FIREWORKS_API_KEY"},
	"openai-compatible": {provider: "openai", baseURL: "https://HOST/v1"},
	"openai_compatible": {provider: "openai", baseURL: "https://HOST/v1"},
	"litellm":           {provider: "openai", baseURL: "http://localhost:4000/v1"},
	"vllm":              {provider: "openai", baseURL: "http://localhost:8000/v1"},
	"lmstudio":          {provider: "openai", baseURL: "http://localhost:1234/v1"},
	"llamacpp":          {provider: "openai", baseURL: "http://localhost:8080/v1"},
	"llama.cpp":         {provider: "openai", baseURL: "http://localhost:8080/v1"},
}

// ProviderHint is what to write for a provider that there is not.
func ProviderHint(name string, types []string) diag.Advice {
	s, ok := servers[strings.ToLower(name)]
	if !ok || !slices.Contains(types, s.provider) {
		return diag.Suggest(name, types)
	}
	if s.baseURL == "" {
		return diag.DidYouMean(name, s.provider, "")
	}
	hint := `write provider: ` + s.provider + `, base_url: "` + s.baseURL + `"`
	if s.keyEnv != "" {
		hint += ", api_key_env: " + s.keyEnv
	}
	return diag.Advice{Hint: hint}
}

// ModelEntry is the entry of llms for a model as other tools name it, such as
// openai/gpt-5-mini or anthropic:claude-sonnet-5; "" = the text is no such name.
func ModelEntry(text string, types []string) string {
	provider, model, ok := strings.Cut(text, "/")
	if !ok {
		provider, model, ok = strings.Cut(text, ":")
	}
	if s, known := servers[strings.ToLower(provider)]; known {
		provider = s.provider
	}
	if !ok || model == "" || strings.ContainsAny(model, " {}[],") || !slices.Contains(types, provider) {
		return ""
	}
	return "{provider: " + provider + ", model: " + model + "}"
}
