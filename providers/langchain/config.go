package langchain

import (
	"cmp"
	"net/url"
	"strings"

	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/component"
	"github.com/pexctl/pex/providers/call"
)

// LangChain is the provider `langchain`.
var LangChain = component.New[Config, engine.ModelSettings, engine.Model](
	"langchain",
	"Models that only langchaingo has a client for, by options.backend: text in, text out. There are no tool calls (executor.mode: react_text does without). Where the vendor has an OpenAI-compatible endpoint too, provider openai with its base_url does more.",
	func() Config { return Config{StructuredOutput: "prompt"} },
	Build,
)

// Config is what stands under `options:`.
type Config struct {
	Backend           string                        `yaml:"backend" enum:"cloudflare|ernie|huggingface|llamafile|maritaca" gone:"cohere: Cohere removed the API that langchaingo speaks on 2025-09-15; use provider openai with base_url https://api.cohere.ai/compatibility/v1" doc:"Whose models: cloudflare (Workers AI; key in CLOUDFLARE_API_TOKEN), ernie (Baidu Qianfan V1; access token in ERNIE_ACCESS_TOKEN), huggingface (the router to inference providers; HF_TOKEN), llamafile (a llamafile or llama.cpp server, on this machine unless base_url says otherwise; no key), maritaca (its inference API; MARITACA_API_KEY); api_key_env names other variables. cloudflare has no stop sequences and makes 256 tokens unless max_output_tokens is set; cloudflare and llamafile stream; ernie and maritaca have no seed: one that is set is not sent. There is no cohere, since Cohere removed the API that langchaingo speaks on 2025-09-15: use provider openai with base_url https://api.cohere.ai/compatibility/v1."`
	AccountID         component.Template            `yaml:"account_id" vars:"env" doc:"cloudflare: the account, such as ${env.CLOUDFLARE_ACCOUNT_ID}."`
	InferenceProvider string                        `yaml:"inference_provider" doc:"huggingface: who runs the model, such as together or nebius; the router chooses unless set."`
	StructuredOutput  string                        `yaml:"structured_output" enum:"prompt|none" doc:"How JSON of a schema is asked for: by words in the system prompt (default), or not at all."`
	Headers           map[string]component.Template `yaml:"headers" vars:"env" doc:"Headers to send with each request."`
	ExtraBody         map[string]any                `yaml:"extra_body" doc:"Fields to put into each request body; they replace fields of the same name."`
}

// KeyVariables says where the key of the backend is found, or, where none is
// chosen, the key of any.
func (c *Config) KeyVariables() (known engine.KeyVariables) {
	for _, b := range backends {
		if b.key != "" && (c.Backend == b.name || c.Backend == "") {
			known.Names = append(known.Names, b.key)
		}
	}
	return known
}

var _ component.Checker[engine.ModelSettings] = (*Config)(nil)

// Check implements component.Checker.
func (c *Config) Check(s engine.ModelSettings) component.Faults {
	b := find(c.Backend)
	if b == nil {
		return component.Faults{unknown()}
	}
	_, out := b.address(s.BaseURL)
	switch cloudflare := b == cloudflareBackend; {
	case cloudflare && c.AccountID.Text == "":
		out = append(out, component.Fault{At: call.At("account_id"), Message: "nothing says whose account is asked", Hint: "write account_id: ${env.CLOUDFLARE_ACCOUNT_ID}, and set that variable"})
	case !cloudflare && c.AccountID.Text != "":
		out = append(out, component.Fault{At: call.At("account_id"), Message: "backend " + b.name + " knows no account_id", Hint: "remove it"})
	}
	if c.InferenceProvider != "" && b != huggingfaceBackend {
		out = append(out, component.Fault{At: call.At("inference_provider"), Message: "backend " + b.name + " knows no inference_provider", Hint: "remove it"})
	}
	return append(out, call.CheckHeaders(c.Headers)...)
}

func unknown() component.Fault {
	var names []string
	for _, b := range backends {
		names = append(names, b.name)
	}
	return component.Fault{At: call.At("backend"), Message: "options.backend names none of the backends", Hint: "write one of " + strings.Join(names, ", ")}
}

// address is where the backend's server is.
func (b *backend) address(base string) (*url.URL, component.Faults) {
	return call.Address(cmp.Or(base, b.base), b.base)
}
