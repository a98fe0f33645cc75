package anthropic

import (
	"errors"

	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/component"
)

// Anthropic is the provider `anthropic`.
var Anthropic = component.New[Config, engine.ModelSettings, engine.Model](
	"anthropic",
	"Anthropic's Claude models, and every server with a compatible /v1/messages endpoint (Ollama, vLLM, gateways) by base_url. There is no seed in this API: one that is set is not sent. max_output_tokens is 16384 unless set.",
	func() Config { return Config{StructuredOutput: nativeSchema} },
	Build,
)

// Config is what stands under `options:`.
type Config struct {
	Thinking         string                        `yaml:"thinking" enum:"adaptive|between_tools|disabled" doc:"Whether the model thinks first: adaptive (as much as it sees fit), between_tools, disabled; the model's own default when unset, and not every model takes every word. With adaptive, temperature and top_p are not sent: the API takes neither beside thinking."`
	ThinkingBudget   int                           `yaml:"thinking_budget" min:"1024" doc:"Tokens that an older model (up to Claude 4.6) may think; newer ones want thinking: adaptive. It counts towards max_output_tokens, which must be larger. temperature and top_p are then not sent."`
	Effort           string                        `yaml:"effort" enum:"low|medium|high|xhigh|max" doc:"How much work the model puts into a reply, its thinking included; none = its default."`
	Cache            bool                          `yaml:"cache" doc:"Let the server cache the system prompt and the tools, and the conversation where there are tools: cheaper when they are sent again soon, dearer when not."`
	CacheTTL         string                        `yaml:"cache_ttl" enum:"5m|1h" doc:"How long the server keeps the cache; its default is 5m."`
	StructuredOutput string                        `yaml:"structured_output" enum:"json_schema|tool|prompt|none" doc:"How the server is asked for JSON of a schema: json_schema (default; a schema that the API cannot hold a model to is written into the system prompt; Ollama takes no notice of it and wants prompt), tool (a tool that must be called, for older models), prompt (written into the system prompt), none."`
	Headers          map[string]component.Template `yaml:"headers" vars:"env" doc:"Headers to send with each request, such as anthropic-beta."`
	ExtraBody        map[string]any                `yaml:"extra_body" doc:"Fields to put into each request body; they replace fields of the same name."`
}

// check finds options that exclude each other.
func (c *Config) check() error {
	if c.Thinking != "" && c.ThinkingBudget > 0 {
		return errors.New("thinking and thinking_budget exclude each other: a budget is for older models, thinking for newer ones")
	}
	if c.CacheTTL != "" && !c.Cache {
		return errors.New("cache_ttl needs cache: true")
	}
	return nil
}
