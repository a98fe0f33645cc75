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
	"OpenAI, and every server with a compatible chat-completions endpoint (llama.cpp, vLLM, Gemini, OpenRouter, ...) by base_url. The key is looked for in OPENAI_API_KEY unless api_key_env names another variable.",
	func() Config { return Config{StructuredOutput: nativeSchema, StreamUsage: true} },
	Build,
)

// Config has the `options:` of openai.
type Config struct {
	ReasoningEffort  string                        `yaml:"reasoning_effort" doc:"How much a reasoning model thinks: minimal, low, medium, high, or what the server knows; its default when unset."`
	LegacyMaxTokens  *bool                         `yaml:"legacy_max_tokens" doc:"Send max_output_tokens as max_tokens, as servers want that do not know max_completion_tokens; true by default for every server but OpenAI's own."`
	StructuredOutput string                        `yaml:"structured_output" enum:"json_schema|json_object|none" doc:"How the server is asked for JSON of a schema: json_schema (default), json_object for servers that only know JSON mode, none."`
	StreamUsage      bool                          `yaml:"stream_usage" doc:"Ask for token counts in streams; false for servers that refuse stream_options."`
	Organization     string                        `yaml:"organization" doc:"OpenAI organization id."`
	Project          string                        `yaml:"project" doc:"OpenAI project id."`
	Headers          map[string]component.Template `yaml:"headers" vars:"env" doc:"Headers to send with each request."`
	ExtraBody        map[string]any                `yaml:"extra_body" doc:"Fields to put into each request body; they replace fields of the same name."`
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
