package openai_test

import (
	"net/http"
	"testing"

	"github.com/pexctl/pex/engine/enginetest"
	"github.com/pexctl/pex/engine/model"
	"github.com/pexctl/pex/internal/httpclient"
	"github.com/pexctl/pex/providers/openai"
)

// through returns a change of the transport's settings that sends requests to server.
func through(server http.RoundTripper) func(*httpclient.Settings) {
	return func(w *httpclient.Settings) {
		if server != nil {
			w.Base = server
		}
	}
}

func TestExchangesOfOpenAI(t *testing.T) {
	enginetest.ExchangeSuite(t, enginetest.Provider{
		Name: "openai", Key: "OPENAI_API_KEY", Model: "gpt-4.1-mini", Thinking: "o4-mini",
		Build: func(s model.Settings, server http.RoundTripper, scenario string) (model.Model, error) {
			c := defaults()
			if scenario == "thinking" {
				c.ReasoningEffort = "low"
			}
			return openai.New(&c, s, through(server))
		},
	})
}

func TestExchangesOfAzure(t *testing.T) {
	enginetest.ExchangeSuite(t, enginetest.Provider{
		Name: "azure_openai", BaseURL: "https://resource.openai.azure.com", Key: "AZURE_OPENAI_API_KEY", Model: "gpt-4.1-mini", Thinking: "o4-mini",
		Build: func(s model.Settings, server http.RoundTripper, scenario string) (model.Model, error) {
			c := azureDefaults()
			c.APIVersion = "2024-10-21"
			if scenario == "thinking" {
				c.ReasoningEffort = "low"
			}
			return openai.NewAzure(&c, s, through(server))
		},
	})
}

func TestExchangesOfMistral(t *testing.T) {
	enginetest.ExchangeSuite(t, enginetest.Provider{
		Name: "mistral", Key: "MISTRAL_API_KEY", Model: "mistral-small-latest", Thinking: "magistral-small-latest",
		Build: func(s model.Settings, server http.RoundTripper, _ string) (model.Model, error) {
			c := mistralDefaults()
			return openai.NewMistral(&c, s, through(server))
		},
	})
}

func TestExchangesOfOllama(t *testing.T) {
	enginetest.ExchangeSuite(t, enginetest.Provider{
		Name: "ollama", Model: "qwen3:8b", Thinking: "qwen3:8b",
		Build: func(s model.Settings, server http.RoundTripper, _ string) (model.Model, error) {
			c := ollamaDefaults()
			return openai.NewOllama(&c, s, through(server))
		},
		Skip: map[string]string{"wrong_key": "Ollama asks for no key"},
	})
}
