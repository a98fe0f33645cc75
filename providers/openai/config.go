package openai

import (
	"cmp"
	"net/url"

	"github.com/pexctl/pex/engine/component"
	"github.com/pexctl/pex/engine/model"
	"github.com/pexctl/pex/providers/modelhttp"
)

// OpenAI is the provider `openai`.
var OpenAI = component.New[Config, model.Settings, model.Model](
	"openai",
	"OpenAI, and every server with a compatible chat-completions endpoint (llama.cpp, vLLM, Gemini, OpenRouter, ...) with base_url. The key is read from OPENAI_API_KEY, unless api_key_env names another variable.",
	func() Config { return Config{StructuredOutput: nativeSchema, StreamUsage: true} },
	Build,
)

// Config has the `options:` of openai.
type Config struct {
	ReasoningEffort  string                        `yaml:"reasoning_effort" doc:"Effort of a reasoning model: minimal, low, medium, high, or another value of the server. Default: the model's."`
	LegacyMaxTokens  *bool                         `yaml:"legacy_max_tokens" doc:"Send max_output_tokens as max_tokens, for servers without max_completion_tokens. Default: false for OpenAI, true for other servers."`
	StructuredOutput string                        `yaml:"structured_output" enum:"json_schema|json_object|none" doc:"How to request JSON that matches a schema: json_schema (default), json_object (JSON mode without the schema), none."`
	StreamUsage      bool                          `yaml:"stream_usage" doc:"Request token counts in streams. Set it to false for servers that reject stream_options."`
	Organization     string                        `yaml:"organization" doc:"OpenAI organization id."`
	Project          string                        `yaml:"project" doc:"OpenAI project id."`
	Headers          map[string]component.Template `yaml:"headers" vars:"env" doc:"Additional request headers."`
	ExtraBody        map[string]any                `yaml:"extra_body" doc:"Additional fields of each request body; they replace fields of the same name."`
}

// KeyVariables implements model.Keyed.
func (*Config) KeyVariables() model.KeyVariables {
	return model.KeyVariables{Names: []string{"OPENAI_API_KEY"}, Required: true}
}

var _ component.Checker[model.Settings] = (*Config)(nil)

// Check implements component.Checker.
func (c *Config) Check(s model.Settings) component.Faults {
	_, out := address(s.BaseURL)
	out = append(out, modelhttp.CheckModel(s)...)
	return append(out, modelhttp.CheckHeaders(c.Headers)...)
}

func address(base string) (*url.URL, component.Faults) {
	return modelhttp.AddressWithoutQuery(cmp.Or(base, defaultBaseURL), "https://host/v1")
}

var _ model.SchemaEnforcer = (*Config)(nil)

// EnforcingOutput implements model.SchemaEnforcer.
func (c *Config) EnforcingOutput() string { return enforcing(c.StructuredOutput) }
