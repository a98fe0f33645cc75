package openai

import (
	"cmp"
	"net/url"
	"strings"

	"github.com/pexctl/pex/engine/component"
	"github.com/pexctl/pex/engine/model"
	"github.com/pexctl/pex/internal/httpclient"
	"github.com/pexctl/pex/providers/modelhttp"
)

// Ollama is the provider `ollama`.
var Ollama = component.New[OllamaConfig, model.Settings, model.Model](
	"ollama",
	"Models that Ollama serves, with its OpenAI-compatible endpoint and without a key. Default of base_url: this machine. Configure the server for how long a model stays loaded (OLLAMA_KEEP_ALIVE) and for the context window (OLLAMA_CONTEXT_LENGTH, or num_ctx in a Modelfile).",
	func() OllamaConfig { return OllamaConfig{StructuredOutput: nativeSchema} },
	func(c *OllamaConfig, s model.Settings) (model.Model, error) { return NewOllama(c, s, nil) },
)

// OllamaConfig has the `options:` of ollama. keep_alive and num_ctx are missing, because
// the endpoint silently ignores them.
type OllamaConfig struct {
	ReasoningEffort  string                        `yaml:"reasoning_effort" doc:"Effort of a reasoning model: none, low, medium, high. Default: the model's."`
	StructuredOutput string                        `yaml:"structured_output" enum:"json_schema|json_object|none" doc:"How to request JSON that matches a schema: json_schema (default; enforced with a grammar), json_object (JSON mode without the schema), none."`
	Headers          map[string]component.Template `yaml:"headers" vars:"env" doc:"Additional request headers, for a server behind a proxy."`
	ExtraBody        map[string]any                `yaml:"extra_body" doc:"Additional fields of each request body; they replace fields of the same name."`
}

const ollamaBaseURL = "http://localhost:11434/v1"

var _ component.Checker[model.Settings] = (*OllamaConfig)(nil)

// Check implements component.Checker.
func (c *OllamaConfig) Check(s model.Settings) component.Faults {
	_, out := ollamaAddress(s.BaseURL)
	out = append(out, modelhttp.CheckModel(s)...)
	return append(out, modelhttp.CheckHeaders(c.Headers)...)
}

func ollamaAddress(base string) (*url.URL, component.Faults) {
	return modelhttp.AddressWithoutQuery(cmp.Or(base, ollamaBaseURL), ollamaBaseURL)
}

// NewOllama returns a model that Ollama serves. change, if not nil, adapts the transport's
// settings (tests).
func NewOllama(c *OllamaConfig, s model.Settings, change func(*httpclient.Settings)) (model.Model, error) {
	if err := c.Check(s).Err(); err != nil {
		return nil, err
	}
	u, _ := ollamaAddress(s.BaseURL)
	d := dialect{base: withVersion(u), legacy: true, hint: ollamaHint(u.Host)}
	return connect(Config{
		ReasoningEffort: c.ReasoningEffort, StructuredOutput: c.StructuredOutput, StreamUsage: true,
		Headers: c.Headers, ExtraBody: c.ExtraBody,
	}, s, d, change)
}

func ollamaHint(host string) func(*model.Error, string) string {
	return func(e *model.Error, m string) string {
		switch {
		case e.Kind == model.NetworkError && e.Status == 0:
			return "is Ollama running at " + host + "? start it with: ollama serve"
		case e.Kind == model.NotFound && strings.Contains(e.Message, "model"):
			return "download it: ollama pull " + m
		case e.Kind == model.NotFound:
			return "base_url usually ends in /v1"
		case strings.Contains(e.Message, "does not support tools"):
			return "set executor.mode: react_text, which calls tools in text"
		case strings.Contains(e.Message, "does not support thinking"):
			return "remove options.reasoning_effort"
		}
		return ""
	}
}

var _ model.SchemaEnforcer = (*OllamaConfig)(nil)

// EnforcingOutput implements model.SchemaEnforcer.
func (c *OllamaConfig) EnforcingOutput() string { return enforcing(c.StructuredOutput) }
