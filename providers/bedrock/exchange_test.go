package bedrock_test

import (
	"net/http"
	"testing"

	"github.com/pexctl/pex/engine/enginetest"
	"github.com/pexctl/pex/engine/model"
	"github.com/pexctl/pex/internal/httpclient"
	"github.com/pexctl/pex/providers/bedrock"
)

func TestExchanges(t *testing.T) {
	enginetest.ExchangeSuite(t, enginetest.Provider{
		Name: "bedrock", Key: "AWS_BEARER_TOKEN_BEDROCK", Env: map[string]string{"AWS_REGION": "us-east-1"},
		Model: "us.anthropic.claude-sonnet-4-5-20250929-v1:0", Thinking: "us.anthropic.claude-sonnet-4-5-20250929-v1:0",
		Build: func(s model.Settings, server http.RoundTripper, scenario string) (model.Model, error) {
			c := defaults()
			c.Cache = scenario == "cache"
			if scenario == "thinking" {
				c.ThinkingBudget = 1024
			}
			return bedrock.New(&c, s, func(w *httpclient.Settings) {
				if server != nil {
					w.Base = server
				}
			})
		},
	})
}
