package genai

import (
	"github.com/pexctl/pex/engine/component"
	"github.com/pexctl/pex/engine/model"
	"github.com/pexctl/pex/providers/modelhttp"
)

// GoogleAI is the factory of the provider googleai.
var GoogleAI = component.New[Config, model.Settings, model.Model](
	"googleai",
	"Google's Gemini models with the Gemini API, or other servers of this API with base_url. The key is read from GEMINI_API_KEY or GOOGLE_API_KEY, unless api_key_env names another variable.",
	func() Config { return Config{StructuredOutput: "json_schema"} },
	Build,
)

// Config contains the keys under options.
type Config struct {
	ThinkingLevel    string                        `yaml:"thinking_level" enum:"minimal|low|medium|high" doc:"Thinking level, for Gemini 3 and later. Default: the model's."`
	ThinkingBudget   *int                          `yaml:"thinking_budget" min:"-1" doc:"Thinking budget in tokens, for Gemini 2.5: 0 disables thinking if the model allows that, -1 lets the model choose. Default: the model's."`
	IncludeThoughts  bool                          `yaml:"include_thoughts" doc:"Request summaries of the model's thinking, shown while streaming. Models without thinking reject it."`
	StructuredOutput string                        `yaml:"structured_output" enum:"json_schema|json_object|none" doc:"How to request JSON that matches a schema: json_schema (default), json_object (JSON mode without the schema), none."`
	SafetySettings   map[string]string             `yaml:"safety_settings" doc:"Thresholds by harm category, such as HARM_CATEGORY_HARASSMENT: BLOCK_ONLY_HIGH."`
	Headers          map[string]component.Template `yaml:"headers" vars:"env" doc:"Additional request headers."`
	ExtraBody        map[string]any                `yaml:"extra_body" doc:"Additional fields of the request body, such as generationConfig: {topK: 5}. Objects are merged, other fields replaced."`
}

// KeyVariables returns the environment variables of the key.
func (*Config) KeyVariables() model.KeyVariables {
	return model.KeyVariables{Names: []string{"GEMINI_API_KEY", "GOOGLE_API_KEY"}, Required: true}
}

var _ component.Checker[model.Settings] = (*Config)(nil)

// Check implements component.Checker.
func (c *Config) Check(s model.Settings) component.Faults {
	_, out := address(s.BaseURL)
	out = append(out, modelhttp.CheckModel(s)...)
	if c.ThinkingLevel != "" && c.ThinkingBudget != nil {
		out = append(out, component.Fault{
			At: modelhttp.At("thinking_budget"), Message: "thinking_level and thinking_budget are mutually exclusive",
			Hint: "use the level for Gemini 3 and later, the budget for Gemini 2.5",
		})
	}
	return append(out, modelhttp.CheckHeaders(c.Headers)...)
}

var _ model.SchemaEnforcer = (*Config)(nil)

// EnforcingOutput implements model.SchemaEnforcer.
func (c *Config) EnforcingOutput() string {
	if c.StructuredOutput == "json_schema" {
		return ""
	}
	return "json_schema"
}
