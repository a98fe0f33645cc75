//go:build e2e && unix

package e2e_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/pexctl/pex/engine/component"
	"github.com/pexctl/pex/engine/enginetest"
	"github.com/pexctl/pex/engine/model"
	"github.com/pexctl/pex/internal/e2e"
	"github.com/pexctl/pex/providers/anthropic"
	"github.com/pexctl/pex/providers/bedrock"
	"github.com/pexctl/pex/providers/genai"
	provider "github.com/pexctl/pex/providers/http"
	"github.com/pexctl/pex/providers/openai"
)

// factory is a provider as the binary has it.
type factory = component.Factory[model.Settings, model.Model]

// of is a subject of the suite: a provider, with options for some scenarios.
func of(f factory, options func(config any, scenario string)) enginetest.Provider {
	return enginetest.Provider{Model: "mock", Thinking: "mock", Build: func(s model.Settings, _ http.RoundTripper, scenario string) (model.Model, error) {
		c := f.Config()
		if options != nil {
			options(c, scenario)
		}
		return f.Build(c, s)
	}}
}

// claudeThinks lets a model of Anthropic's think and cache where that is asked.
func claudeThinks(config any, scenario string) {
	budget := 0
	if scenario == "thinking" {
		budget = 1024
	}
	switch c := config.(type) {
	case *anthropic.Config:
		c.ThinkingBudget, c.Cache = budget, scenario == "cache"
	case *bedrock.Config:
		c.Region, c.ThinkingBudget, c.Cache = "us-east-1", budget, scenario == "cache"
	}
}

func interfaceOf(name string) func(any, string) {
	return func(config any, _ string) { config.(*provider.Config).LLMInterface = name }
}

func TestE2EExchangesWithAMockOfEachVendor(t *testing.T) {
	base := mock(t)
	const claude, gemini, deepseek = "us.anthropic.claude-sonnet-4-5-20250929-v1:0", "gemini-2.5-flash", "us.deepseek.r1-v1:0"
	for _, v := range []struct {
		name, path, model string
		subject           enginetest.Provider
	}{
		{"openai", "/v1", "o4-mini", of(openai.OpenAI, nil)},
		{"azure_openai", "", "gpt-4.1-mini", of(openai.AzureOpenAI, nil)},
		{"mistral", "/v1", "mistral-small-latest", of(openai.Mistral, nil)},
		{"anthropic", "", "claude-sonnet-4-5", of(anthropic.Anthropic, claudeThinks)},
		{"googleai", "/v1beta", gemini, of(genai.GoogleAI, nil)},
		{"bedrock", "", claude, of(bedrock.Bedrock, claudeThinks)},
		{"http openai", "/v1", "o4-mini", of(provider.HTTP, interfaceOf("openai/v1/chat/completions"))},
		{"http converse", "", claude, of(provider.HTTP, interfaceOf("bedrock/converse/claude"))},
		{"http deepseek", "", deepseek, of(provider.HTTP, interfaceOf("bedrock/converse/deepseek_r1"))},
		{"http gemini", "/v1beta", gemini, of(provider.HTTP, interfaceOf("gemini/v1beta/generatecontent"))},
		{"http cohere", "/v2/chat", "command-a-03-2025", cohere(t)},
	} {
		t.Run(v.name, func(t *testing.T) {
			enginetest.LiveExchanges(t, v.subject, enginetest.LiveServer{BaseURL: base + v.path, Model: v.model, Thinking: v.model})
		})
	}
}

// cohere is Cohere's own API by a template, as the language compiles it.
func cohere(t *testing.T) enginetest.Provider {
	t.Helper()
	const noCalls = "text in, text out: there are no calls"
	const entry = `options:
  request_body:
    model: ${args.model}
    stream: false
    messages: ${args.messages}
    max_tokens: ${args.max_output_tokens}
    temperature: ${args.temperature}
    seed: ${args.seed}
    p: ${args.top_p}
    stop_sequences: ${args.stop}
  response_filter: $.message.content[*].text
`
	return enginetest.Provider{
		Model: "command-a-03-2025", Thinking: "command-a-03-2025",
		Build: func(s model.Settings, _ http.RoundTripper, _ string) (model.Model, error) {
			config, wrong := options(t, entry+"base_url: "+s.BaseURL+"\n")
			if wrong != "" {
				t.Fatal(wrong)
			}
			return provider.HTTP.Build(config, s)
		},
		Skip: map[string]string{"tools": noCalls, "streamed_tools": noCalls, "max_tokens": "why an answer ended is not read"},
	}
}

// A real inference server, with a model of random weights: what it says means
// nothing, and every form of it counts. It knows no tools, and no keys.
func TestE2EExchangesWithOllama(t *testing.T) {
	base := strings.TrimSuffix(e2e.Ollama(t, "../../testdata/models/tiny.gguf"), "/v1")
	const noTools, noKeys = "the model's template knows no tools", "Ollama asks for no key"
	for _, v := range []struct {
		name, path string
		subject    enginetest.Provider
	}{
		{"openai", "/v1", of(openai.OpenAI, nil)},
		{"ollama", "", of(openai.Ollama, nil)},
		{"anthropic", "", of(anthropic.Anthropic, nil)},
	} {
		t.Run(v.name, func(t *testing.T) {
			v.subject.Skip = map[string]string{"tools": noTools, "streamed_tools": noTools, "wrong_key": noKeys}
			if v.name == "anthropic" {
				v.subject.Skip["schema"] = "Ollama's Messages API holds no model to a schema, and random weights hold to none by words"
			}
			enginetest.LiveExchanges(t, v.subject, enginetest.LiveServer{BaseURL: base + v.path, Model: "tiny", Thinking: "tiny", Noise: true})
		})
	}
}
