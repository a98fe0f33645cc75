package starter

// Provider is one that a project can begin with, and the model it suggests.
type Provider struct {
	Name   string // as llms.<name>.provider has it
	About  string // for people who choose
	Model  string // the suggested one; dsl/pricing/prices.yaml has its price, where there is one
	Key    string // environment variable of the key; "" = none is needed
	Needs  string // another environment variable that it cannot do without, or ""
	Early  string // a line of the llm before max_output_tokens, or ""
	Late   string // one after it
	Remark string // beside the llm in the file
	Short  bool   // its models see little at a time: a limit in tokens is kept low
}

// Providers are all of them, the suggested one first.
func Providers() []Provider {
	return []Provider{
		{Name: "openai", About: "OpenAI", Model: "gpt-5.4-mini", Key: "OPENAI_API_KEY"},
		{Name: "anthropic", About: "Anthropic's Claude", Model: "claude-sonnet-5-5", Key: "ANTHROPIC_API_KEY"},
		{
			Name: "ollama", About: "models on this machine, no key", Model: "qwen3:8b", Short: true,
			Remark: "ollama pull %s; start it with OLLAMA_CONTEXT_LENGTH=16384 ollama serve", Late: "timeout: 5m",
		},
		{Name: "googleai", About: "Google's Gemini", Model: "gemini-3.5-flash", Key: "GEMINI_API_KEY"},
		{Name: "mistral", About: "Mistral's platform", Model: "mistral-large-2512", Key: "MISTRAL_API_KEY"},
		{
			Name: "azure_openai", About: "a deployment in Azure", Model: "gpt-5.4-mini", Key: "AZURE_OPENAI_API_KEY", Needs: "AZURE_OPENAI_ENDPOINT",
			Remark: "%s is the deployment's name; AZURE_OPENAI_ENDPOINT is https://NAME.openai.azure.com",
			Early:  "base_url: ${env.AZURE_OPENAI_ENDPOINT}",
		},
		{
			Name: "bedrock", About: "Amazon Bedrock", Model: "global.anthropic.claude-sonnet-5", Key: "AWS_BEARER_TOKEN_BEDROCK", Needs: "AWS_REGION",
			Remark: "AWS_REGION says where; AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY will do as well",
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

// ProviderNames are the names of Providers.
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

// Variables are the environment variables that the real model needs, the key
// first.
func (a Answers) Variables() []string {
	p, _ := providerOf(a.Provider)
	return p.variables()
}
