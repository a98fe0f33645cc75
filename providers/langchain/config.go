package langchain

import (
	"cmp"
	"net/url"

	"github.com/pexctl/pex/engine/component"
	"github.com/pexctl/pex/engine/model"
	"github.com/pexctl/pex/providers/modelhttp"
)

// LangChain is the factory of the provider langchain.
var LangChain = component.New[Config, model.Settings, model.Model](
	"langchain",
	"Models that only langchaingo supports, selected by options.backend. Text only, without tool calls; use executor.mode: react_text. If the vendor has an OpenAI-compatible endpoint, the provider openai with its base_url supports more.",
	func() Config { return Config{StructuredOutput: "prompt"} },
	Build,
)

// Config contains the keys under options.
type Config struct {
	Backend          string                        `yaml:"backend" enum:"ernie" gone:"cloudflare: Workers AI speaks OpenAI's protocol; use provider openai with base_url https://api.cloudflare.com/client/v4/accounts/ACCOUNT/ai/v1 and api_key_env CLOUDFLARE_API_TOKEN|cohere: Cohere removed the API that langchaingo speaks on 2025-09-15; use provider openai with base_url https://api.cohere.ai/compatibility/v1|huggingface: the router speaks OpenAI's protocol; use provider openai with base_url https://router.huggingface.co/v1 and api_key_env HF_TOKEN|llamafile: a llamafile speaks OpenAI's protocol; use provider openai with base_url http://127.0.0.1:8080/v1|maritaca: Maritaca speaks OpenAI's protocol; use provider openai with base_url https://chat.maritaca.ai/api and api_key_env MARITACA_API_KEY" doc:"Backend: ernie (Baidu Qianfan V1). The access token is read from ERNIE_ACCESS_TOKEN, unless api_key_env names another variable. A seed is not sent. For Workers AI, Hugging Face, llamafile, Maritaca and Cohere use the provider openai with their base_url."`
	StructuredOutput string                        `yaml:"structured_output" enum:"prompt|none" doc:"How to request JSON that matches a schema: prompt (default; in the system prompt) or none."`
	Headers          map[string]component.Template `yaml:"headers" vars:"env" doc:"Additional request headers."`
	ExtraBody        map[string]any                `yaml:"extra_body" doc:"Additional fields of the request body. They override fields of the same name."`
}

const (
	defaultBaseURL = "https://aip.baidubce.com/rpc/2.0/ai_custom/v1/wenxinworkshop/chat"
	keyVariable    = "ERNIE_ACCESS_TOKEN"
)

// KeyVariables returns the environment variables of the key.
func (c *Config) KeyVariables() model.KeyVariables {
	return model.KeyVariables{Names: []string{keyVariable}}
}

var _ component.Checker[model.Settings] = (*Config)(nil)

// Check implements component.Checker.
func (c *Config) Check(s model.Settings) component.Faults {
	if c.Backend != "ernie" {
		return component.Faults{{At: modelhttp.At("backend"), Message: "options.backend is not set or unknown", Hint: "set options.backend: ernie"}}
	}
	_, out := address(s.BaseURL)
	return append(out, modelhttp.CheckHeaders(c.Headers)...)
}

// address returns the base URL.
func address(base string) (*url.URL, component.Faults) {
	return modelhttp.Address(cmp.Or(base, defaultBaseURL), defaultBaseURL)
}
