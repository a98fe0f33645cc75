package genai

import (
	"errors"

	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/component"
)

// GoogleAI is the provider `googleai`.
var GoogleAI = component.New[Config, engine.ModelSettings, engine.Model](
	"googleai",
	"Google's Gemini models by the Gemini API, with an API key; base_url leads to other servers of that API.",
	func() Config { return Config{StructuredOutput: "json_schema"} },
	Build,
)

// Config is what stands under `options:`.
type Config struct {
	ThinkingLevel    string                        `yaml:"thinking_level" enum:"minimal|low|medium|high" doc:"How much a model of Gemini 3 and later thinks; none = its default."`
	ThinkingBudget   *int                          `yaml:"thinking_budget" min:"-1" doc:"Tokens that a model of Gemini 2.5 may think: 0 = not at all where the model allows it, -1 = as it sees fit; none = its default."`
	IncludeThoughts  bool                          `yaml:"include_thoughts" doc:"Ask for summaries of the model's thoughts, shown as they stream; models that do not think refuse it."`
	StructuredOutput string                        `yaml:"structured_output" enum:"json_schema|json_object|none" doc:"How JSON of a schema is asked for: json_schema (default), json_object for JSON mode alone, none."`
	SafetySettings   map[string]string             `yaml:"safety_settings" doc:"Thresholds by harm category, in the API's words: HARM_CATEGORY_HARASSMENT: BLOCK_ONLY_HIGH."`
	Headers          map[string]component.Template `yaml:"headers" vars:"env" doc:"Headers to send with each request."`
	ExtraBody        map[string]any                `yaml:"extra_body" doc:"Fields to put into each request body, such as generationConfig: {topK: 5}; they replace fields of the same name, and go into objects of the same name."`
}

// check finds options that contradict each other.
func (c *Config) check() error {
	if c.ThinkingLevel != "" && c.ThinkingBudget != nil {
		return errors.New("thinking_level and thinking_budget exclude each other: the level is for Gemini 3 and later, the budget for Gemini 2.5")
	}
	return nil
}
