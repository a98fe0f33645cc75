package anthropic

import (
	"cmp"
	"net/url"
	"strings"

	"github.com/pexctl/pex/engine/attachment"
	"github.com/pexctl/pex/engine/component"
	"github.com/pexctl/pex/engine/model"
	"github.com/pexctl/pex/providers/modelhttp"
)

// Anthropic is the provider `anthropic`.
var Anthropic = component.New[Config, model.Settings, model.Model](
	"anthropic",
	"Anthropic's Claude models, and every server with a compatible /v1/messages endpoint (Ollama, vLLM, gateways) with base_url. The key is read from ANTHROPIC_API_KEY, unless api_key_env names another variable. The API has no seed, so it is not sent. Default of max_output_tokens: 16384.",
	func() Config { return Config{StructuredOutput: nativeSchema} },
	Build,
)

// Config has the `options:` of the provider.
type Config struct {
	Thinking         string                        `yaml:"thinking" enum:"adaptive|between_tools|disabled" doc:"Thinking: adaptive (as much as the model decides), between_tools, disabled. Default: the model's. Not every model supports every value. With adaptive, temperature and top_p are not sent, because the API rejects them together with thinking."`
	ThinkingBudget   int                           `yaml:"thinking_budget" min:"1024" doc:"Thinking budget in tokens for older models (up to Claude 4.6); newer ones require thinking: adaptive. It counts towards max_output_tokens, which must be larger. temperature and top_p are then not sent."`
	Effort           string                        `yaml:"effort" enum:"low|medium|high|xhigh|max" doc:"Effort of a reply, including thinking. Default: the model's."`
	Cache            bool                          `yaml:"cache" doc:"Let the server cache the system prompt and the tools, and with tools also the conversation: cheaper if they are sent again soon, more expensive otherwise."`
	CacheTTL         string                        `yaml:"cache_ttl" enum:"5m|1h" doc:"Lifetime of the cache. Default: 5m."`
	StructuredOutput string                        `yaml:"structured_output" enum:"json_schema|tool|prompt|none" doc:"How to request JSON that matches a schema: json_schema (default; a schema that the API does not support is added to the system prompt), tool (a forced tool call, for older models), prompt (in the system prompt, as Ollama requires), none."`
	Headers          map[string]component.Template `yaml:"headers" vars:"env" doc:"Additional request headers, such as anthropic-beta."`
	ExtraBody        map[string]any                `yaml:"extra_body" doc:"Additional fields of each request body; they replace fields of the same name."`
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
			At: modelhttp.At("thinking_budget"), Message: "thinking and thinking_budget are mutually exclusive",
			Hint: "use thinking_budget for older models and thinking for newer ones",
		})
	}
	if c.CacheTTL != "" && !c.Cache {
		out = append(out, component.Fault{At: modelhttp.At("cache_ttl"), Message: "cache_ttl needs cache: true"})
	}
	return append(out, modelhttp.CheckHeaders(c.Headers)...)
}

// address returns the URL of the API, without its version.
func address(base string) (*url.URL, component.Faults) {
	return modelhttp.AddressWithoutQuery(strings.TrimSuffix(strings.TrimRight(cmp.Or(base, defaultBaseURL), "/"), "/v1"), "https://host, to which /v1/messages is added")
}

var _ model.Multimodal = (*Config)(nil)

// FileSupport implements model.Multimodal. The API takes images of 5 MB in base64 with 8000
// pixels in each direction (platform.claude.com/docs/en/build-with-claude/vision), and PDF files
// of 100 pages (docs/en/build-with-claude/pdf-support).
func (*Config) FileSupport(string) model.FileSupport {
	return model.FileSupport{
		Kinds: []model.FileKind{model.ImageFile, model.PDFFile}, ImageBytes: 5 << 20 / 4 * 3, ImageEdge: 8000, PDFPages: 100,
		Tokens: attachment.ClaudeTokens,
	}
}

var _ model.SchemaEnforcer = (*Config)(nil)

// EnforcingOutput implements model.SchemaEnforcer.
func (c *Config) EnforcingOutput() string {
	if c.StructuredOutput == nativeSchema {
		return ""
	}
	return nativeSchema
}
