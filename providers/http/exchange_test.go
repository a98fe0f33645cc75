package http_test

import (
	nethttp "net/http"
	"testing"

	"github.com/pexctl/pex/engine/component"
	"github.com/pexctl/pex/engine/enginetest"
	"github.com/pexctl/pex/engine/model"
	"github.com/pexctl/pex/internal/httpclient"
	"github.com/pexctl/pex/providers/http"
)

// building returns a function that builds models of a config.
func building(c http.Config) func(model.Settings, nethttp.RoundTripper, string) (model.Model, error) {
	return func(s model.Settings, server nethttp.RoundTripper, _ string) (model.Model, error) {
		return http.New(&c, s, func(w *httpclient.Settings) {
			if server != nil {
				w.Base = server
			}
		})
	}
}

func TestExchangesOfChat(t *testing.T) {
	enginetest.ExchangeSuite(t, enginetest.Provider{
		Name: "http_openai", BaseURL: "https://api.openai.com/v1", Key: "OPENAI_API_KEY", Model: "gpt-4.1-mini", Thinking: "o4-mini",
		Build: building(of("openai/v1/chat/completions")),
	})
}

func TestExchangesOfConverse(t *testing.T) {
	enginetest.ExchangeSuite(t, enginetest.Provider{
		Name: "http_converse", BaseURL: "https://bedrock-runtime.us-east-1.amazonaws.com", Key: "AWS_BEARER_TOKEN_BEDROCK", Model: "us.anthropic.claude-sonnet-4-5-20250929-v1:0",
		Build: building(of("bedrock/converse/claude")),
		Skip:  map[string]string{"thinking": "it is asked for by extra_body, in the words of the model"},
	})
}

func TestExchangesOfPrompted(t *testing.T) {
	enginetest.ExchangeSuite(t, enginetest.Provider{
		Name: "http_deepseek_r1", BaseURL: "https://bedrock-runtime.us-east-1.amazonaws.com", Key: "AWS_BEARER_TOKEN_BEDROCK", Model: "us.deepseek.r1-v1:0", Thinking: "us.deepseek.r1-v1:0",
		Build: building(of("bedrock/converse/deepseek_r1")),
	})
}

func TestExchangesOfGemini(t *testing.T) {
	c := of("gemini/v1beta/generatecontent")
	c.Auth = "none"
	c.Headers = map[string]component.Template{"x-goog-api-key": template("${env.GEMINI_API_KEY}")}
	enginetest.ExchangeSuite(t, enginetest.Provider{
		Name: "http_gemini", BaseURL: "https://generativelanguage.googleapis.com/v1beta", Key: "GEMINI_API_KEY", Model: "gemini-2.5-flash", Thinking: "gemini-2.5-flash",
		Build: building(c),
	})
}

// A spec for Cohere's own API: text in, text out.
func TestExchangesOfCohere(t *testing.T) {
	c := defaults()
	c.RequestBody = value(t, `{"model": "${args.model}", "stream": false, "messages": "${args.messages}", "max_tokens": "${args.max_output_tokens}",
		"temperature": "${args.temperature}", "seed": "${args.seed}", "p": "${args.top_p}", "stop_sequences": "${args.stop}"}`)
	c.ResponseFilter = member("message", "content", 0, "text")
	const noCalls = "text in, text out: there are no calls"
	enginetest.ExchangeSuite(t, enginetest.Provider{
		Name: "http_cohere", BaseURL: "https://api.cohere.com/v2/chat", Key: "CO_API_KEY", Model: "command-a-03-2025",
		Build: building(c),
		Skip: map[string]string{
			"tools": noCalls, "streamed_tools": noCalls, "max_tokens": "why an answer ended is not read",
			"thinking": "the answer's first block is then a thought",
		},
	})
}
