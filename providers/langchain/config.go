package langchain

import (
	"cmp"
	"net/url"

	"github.com/pexctl/pex/engine/component"
	"github.com/pexctl/pex/engine/model"
	"github.com/pexctl/pex/providers/modelhttp"
)

// LangChain is the provider `langchain`.
var LangChain = component.New[Config, model.Settings, model.Model](
	"langchain",
	"Models that only langchaingo has a client for, by options.backend: text in, text out. There are no tool calls (executor.mode: react_text does without). Where the vendor has an OpenAI-compatible endpoint too, provider openai with its base_url does more.",
	func() Config { return Config{StructuredOutput: "prompt"} },
	Build,
)

// Config is what stands under `options:`.
type Config struct {
	Backend          string                        `yaml:"backend" enum:"ernie" gone:"cloudflare: Workers AI speaks OpenAI's protocol; use provider openai with base_url https://api.cloudflare.com/client/v4/accounts/ACCOUNT/ai/v1 and api_key_env CLOUDFLARE_API_TOKEN|cohere: Cohere removed the API that langchaingo speaks on 2025-09-15; use provider openai with base_url https://api.cohere.ai/compatibility/v1|huggingface: the router speaks OpenAI's protocol; use provider openai with base_url https://router.huggingface.co/v1 and api_key_env HF_TOKEN|llamafile: a llamafile speaks OpenAI's protocol; use provider openai with base_url http://127.0.0.1:8080/v1|maritaca: Maritaca speaks OpenAI's protocol; use provider openai with base_url https://chat.maritaca.ai/api and api_key_env MARITACA_API_KEY" doc:"Whose models: ernie (Baidu Qianfan V1; access token in ERNIE_ACCESS_TOKEN; no seed: one that is set is not sent); api_key_env names another variable. Workers AI, Hugging Face, llamafile, Maritaca and Cohere have OpenAI-compatible endpoints: use provider openai with their base_url."`
	StructuredOutput string                        `yaml:"structured_output" enum:"prompt|none" doc:"How JSON of a schema is asked for: by words in the system prompt (default), or not at all."`
	Headers          map[string]component.Template `yaml:"headers" vars:"env" doc:"Headers to send with each request."`
	ExtraBody        map[string]any                `yaml:"extra_body" doc:"Fields to put into each request body; they replace fields of the same name."`
}

const (
	defaultBaseURL = "https://aip.baidubce.com/rpc/2.0/ai_custom/v1/wenxinworkshop/chat"
	keyVariable    = "ERNIE_ACCESS_TOKEN"
)

// KeyVariables says where the key is found.
func (c *Config) KeyVariables() model.KeyVariables {
	return model.KeyVariables{Names: []string{keyVariable}}
}

var _ component.Checker[model.Settings] = (*Config)(nil)

// Check implements component.Checker.
func (c *Config) Check(s model.Settings) component.Faults {
	if c.Backend != "ernie" {
		return component.Faults{{At: modelhttp.At("backend"), Message: "options.backend names none of the backends", Hint: "write ernie"}}
	}
	_, out := address(s.BaseURL)
	return append(out, modelhttp.CheckHeaders(c.Headers)...)
}

// address is where the server is.
func address(base string) (*url.URL, component.Faults) {
	return modelhttp.Address(cmp.Or(base, defaultBaseURL), defaultBaseURL)
}
