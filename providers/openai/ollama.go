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
	"Models that Ollama serves, by its OpenAI-compatible endpoint, without a key; on this machine unless base_url says otherwise. How long a model stays loaded and how much of a conversation it sees is set at the server: OLLAMA_KEEP_ALIVE, and OLLAMA_CONTEXT_LENGTH or num_ctx in a Modelfile.",
	func() OllamaConfig { return OllamaConfig{StructuredOutput: nativeSchema} },
	func(c *OllamaConfig, s model.Settings) (model.Model, error) { return NewOllama(c, s, nil) },
)

// OllamaConfig has the `options:` of ollama. keep_alive and num_ctx are missing, because
// the endpoint silently ignores them.
type OllamaConfig struct {
	ReasoningEffort  string                        `yaml:"reasoning_effort" doc:"How much a thinking model thinks: none, low, medium, high; its own default when unset."`
	StructuredOutput string                        `yaml:"structured_output" enum:"json_schema|json_object|none" doc:"How JSON of a schema is asked for: json_schema (default) holds the model to it by a grammar; json_object, none."`
	Headers          map[string]component.Template `yaml:"headers" vars:"env" doc:"Headers to send with each request, for a server behind a proxy."`
	ExtraBody        map[string]any                `yaml:"extra_body" doc:"Fields to put into each request body; they replace fields of the same name."`
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
			return "is Ollama running at " + host + "? ollama serve starts it"
		case e.Kind == model.NotFound && strings.Contains(e.Message, "model"):
			return "get it first: ollama pull " + m
		case e.Kind == model.NotFound:
			return "base_url usually ends in /v1"
		case strings.Contains(e.Message, "does not support tools"):
			return "executor.mode: react_text calls tools by text"
		case strings.Contains(e.Message, "does not support thinking"):
			return "leave out options.reasoning_effort"
		}
		return ""
	}
}

var _ model.SchemaEnforcer = (*OllamaConfig)(nil)

// EnforcingOutput implements model.SchemaEnforcer.
func (c *OllamaConfig) EnforcingOutput() string { return enforcing(c.StructuredOutput) }
