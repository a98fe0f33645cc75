package genai

import (
	"github.com/pexctl/pex/engine/component"
	"github.com/pexctl/pex/engine/model"
	"github.com/pexctl/pex/providers/modelhttp"
)

// GoogleAI is the provider `googleai`.
var GoogleAI = component.New[Config, model.Settings, model.Model](
	"googleai",
	"Google's Gemini models by the Gemini API; base_url leads to other servers of it. The key is looked for in GEMINI_API_KEY, then in GOOGLE_API_KEY, unless api_key_env names another variable.",
	func() Config { return Config{StructuredOutput: "json_schema"} },
	Build,
)

// Config is what stands under `options:`.
type Config struct {
	ThinkingLevel    string                        `yaml:"thinking_level" enum:"minimal|low|medium|high" doc:"How much a model of Gemini 3 and later thinks; its default when unset."`
	ThinkingBudget   *int                          `yaml:"thinking_budget" min:"-1" doc:"Tokens that a model of Gemini 2.5 may think: 0 = not at all where the model allows it, -1 = as it sees fit; its default when unset."`
	IncludeThoughts  bool                          `yaml:"include_thoughts" doc:"Ask for summaries of the model's thoughts, shown as they stream; models that do not think refuse it."`
	StructuredOutput string                        `yaml:"structured_output" enum:"json_schema|json_object|none" doc:"How JSON of a schema is asked for: json_schema (default), json_object for JSON mode alone, none."`
	SafetySettings   map[string]string             `yaml:"safety_settings" doc:"Thresholds by harm category, in the API's words: HARM_CATEGORY_HARASSMENT: BLOCK_ONLY_HIGH."`
	Headers          map[string]component.Template `yaml:"headers" vars:"env" doc:"Headers to send with each request."`
	ExtraBody        map[string]any                `yaml:"extra_body" doc:"Fields to put into each request body, such as generationConfig: {topK: 5}; they replace fields of the same name, and go into objects of the same name."`
}

// KeyVariables says where the key is found.
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
			At: modelhttp.At("thinking_budget"), Message: "thinking_level and thinking_budget exclude each other",
			Hint: "the level is for Gemini 3 and later, the budget for Gemini 2.5",
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
