package anthropic

import (
	"cmp"
	"net/url"
	"strings"

	"github.com/pexctl/pex/engine/component"
	"github.com/pexctl/pex/engine/model"
	"github.com/pexctl/pex/providers/modelhttp"
)

// Anthropic is the provider `anthropic`.
var Anthropic = component.New[Config, model.Settings, model.Model](
	"anthropic",
	"Anthropic's Claude models, and every server with a compatible /v1/messages endpoint (Ollama, vLLM, gateways) by base_url. The key is looked for in ANTHROPIC_API_KEY unless api_key_env names another variable. There is no seed in this API: one that is set is not sent. max_output_tokens is 16384 unless set.",
	func() Config { return Config{StructuredOutput: nativeSchema} },
	Build,
)

// Config has the `options:` of the provider.
type Config struct {
	Thinking         string                        `yaml:"thinking" enum:"adaptive|between_tools|disabled" doc:"Whether the model thinks first: adaptive (as much as it sees fit), between_tools, disabled; the model's own default when unset, and not every model takes every word. With adaptive, temperature and top_p are not sent: the API takes neither beside thinking."`
	ThinkingBudget   int                           `yaml:"thinking_budget" min:"1024" doc:"Tokens that an older model (up to Claude 4.6) may think; newer ones want thinking: adaptive. It counts towards max_output_tokens, which must be larger. temperature and top_p are then not sent."`
	Effort           string                        `yaml:"effort" enum:"low|medium|high|xhigh|max" doc:"How much work the model puts into a reply, its thinking included; its default when unset."`
	Cache            bool                          `yaml:"cache" doc:"Let the server cache the system prompt and the tools, and the conversation where there are tools: cheaper when they are sent again soon, dearer when not."`
	CacheTTL         string                        `yaml:"cache_ttl" enum:"5m|1h" doc:"How long the server keeps the cache; its default is 5m."`
	StructuredOutput string                        `yaml:"structured_output" enum:"json_schema|tool|prompt|none" doc:"How the server is asked for JSON of a schema: json_schema (default; a schema that the API cannot express goes into the system prompt), tool (a tool that must be called, for older models), prompt (in the system prompt: what Ollama needs), none."`
	Headers          map[string]component.Template `yaml:"headers" vars:"env" doc:"Headers to send with each request, such as anthropic-beta."`
	ExtraBody        map[string]any                `yaml:"extra_body" doc:"Fields to put into each request body; they replace fields of the same name."`
}

// KeyVariables implements model.Keyed.
func (*Config) KeyVariables() model.KeyVariables {
	return model.KeyVariables{Names: []string{"ANTHROPIC_API_KEY"}, Required: true}
}

var _ component.Checker[model.Settings] = (*Config)(nil)

// Check implements component.Checker.
func (c *Config) Check(s model.Settings) component.Faults {
	_, out := address(s.BaseURL)
	out = append(out, modelhttp.CheckModel(s)...)
	if c.Thinking != "" && c.ThinkingBudget > 0 {
		out = append(out, component.Fault{
			At: modelhttp.At("thinking_budget"), Message: "thinking and thinking_budget exclude each other",
			Hint: "a budget is for older models, thinking for newer ones",
		})
	}
	if c.CacheTTL != "" && !c.Cache {
		out = append(out, component.Fault{At: modelhttp.At("cache_ttl"), Message: "cache_ttl needs cache: true"})
	}
	return append(out, modelhttp.CheckHeaders(c.Headers)...)
}

// address returns the URL of the API, without its version.
func address(base string) (*url.URL, component.Faults) {
	return modelhttp.AddressWithoutQuery(strings.TrimSuffix(strings.TrimRight(cmp.Or(base, defaultBaseURL), "/"), "/v1"), "https://host, and /v1/messages is added to it")
}

var _ model.SchemaEnforcer = (*Config)(nil)

// EnforcingOutput implements model.SchemaEnforcer.
func (c *Config) EnforcingOutput() string {
	if c.StructuredOutput == nativeSchema {
		return ""
	}
	return nativeSchema
}
