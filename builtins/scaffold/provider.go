package scaffold

import (
	"net"
	"net/url"
	"slices"
	"strings"
)

// Provider is a model provider that init offers, with the model it suggests.
type Provider struct {
	Name   string // the value of llms.<name>.provider
	About  string // shown in the interview
	Model  string // suggested model; its price is in dsl/pricing/prices.yaml if it has one
	Key    string // environment variable of the API key; "" = none needed
	Needs  string // another required environment variable, or ""
	Early  string // YAML line of the LLM before max_output_tokens, or ""
	Late   string // YAML line after it, or ""
	Remark string // comment on the LLM in the file; %s is the model
	Short  bool   // small context windows: use lower token limits
}

// Providers returns the providers that init offers, the default first.
func Providers() []Provider {
	return []Provider{
		{Name: "openai", About: "OpenAI", Model: "gpt-5.4-mini", Key: "OPENAI_API_KEY"},
		{Name: "anthropic", About: "Anthropic (Claude)", Model: "claude-sonnet-5-5", Key: "ANTHROPIC_API_KEY"},
		{
			Name: "ollama", About: "local models, no API key", Model: "qwen3:8b", Short: true,
			Remark: "run: ollama pull %s; start the server with OLLAMA_CONTEXT_LENGTH=16384 ollama serve", Late: "timeout: 5m",
		},
		{Name: "googleai", About: "Google (Gemini)", Model: "gemini-3.5-flash", Key: "GEMINI_API_KEY"},
		{Name: "mistral", About: "Mistral AI", Model: "mistral-large-2512", Key: "MISTRAL_API_KEY"},
		{
			Name: "azure_openai", About: "Azure OpenAI deployment", Model: "gpt-5.4-mini", Key: "AZURE_OPENAI_API_KEY", Needs: "AZURE_OPENAI_ENDPOINT",
			Remark: "%s is the deployment name; AZURE_OPENAI_ENDPOINT is https://NAME.openai.azure.com",
			Early:  "base_url: ${env.AZURE_OPENAI_ENDPOINT}",
		},
		{
			Name: "bedrock", About: "Amazon Bedrock", Model: "global.anthropic.claude-sonnet-5", Key: "AWS_BEARER_TOKEN_BEDROCK", Needs: "AWS_REGION",
			Remark: "AWS_REGION sets the region; AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY also work",
		},
	}
}

func providerOf(name string) (Provider, bool) {
	for _, p := range Providers() {
		if p.Name == name {
			return p, true
		}
	}
	return Provider{}, false
}

// SuggestProvider makes the first provider that can be used at once the default: its environment variables are set, or its
// local server has models.
func (a *Answers) SuggestProvider(env func(string) string, ollama []Served) {
	for _, p := range Providers() {
		vars := p.variables()
		switch {
		case len(vars) == 0 && len(ollama) > 0:
			a.Ready = "running"
		case len(vars) > 0 && !slices.ContainsFunc(vars, func(v string) bool { return env(v) == "" }):
			a.Ready = vars[0] + " is set"
		default:
			continue
		}
		a.Provider, a.Model = p.Name, p.Model
		return
	}
}

// ProviderNames returns the names of Providers.
func ProviderNames() []string {
	var out []string
	for _, p := range Providers() {
		out = append(out, p.Name)
	}
	return out
}

func (p Provider) variables() []string {
	var out []string
	for _, v := range []string{p.Key, p.Needs} {
		if v != "" {
			out = append(out, v)
		}
	}
	return out
}

// Variables returns the environment variables that the real model needs, the API key first. A server in the local network
// needs none.
func (a Answers) Variables() []string {
	p, _ := providerOf(a.Provider)
	if u, err := url.Parse(a.BaseURL); err == nil && a.BaseURL != "" {
		if host := u.Hostname(); net.ParseIP(host) != nil || !strings.Contains(host, ".") || strings.HasSuffix(host, ".local") {
			return nil
		}
		return []string{p.Key}
	}
	return p.variables()
}
