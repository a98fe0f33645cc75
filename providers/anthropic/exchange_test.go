package anthropic_test

import (
	"net/http"
	"testing"

	"github.com/pexctl/pex/engine/enginetest"
	"github.com/pexctl/pex/engine/model"
	"github.com/pexctl/pex/internal/httpclient"
	"github.com/pexctl/pex/providers/anthropic"
)

func TestExchanges(t *testing.T) {
	enginetest.ExchangeSuite(t, enginetest.Provider{
		Name: "anthropic", Key: "ANTHROPIC_API_KEY", Model: "claude-sonnet-4-5", Thinking: "claude-sonnet-4-5",
		Build: func(s model.Settings, server http.RoundTripper, scenario string) (model.Model, error) {
			c := defaults()
			c.Cache = scenario == "cache"
			if scenario == "thinking" {
				c.ThinkingBudget = 1024
			}
			return anthropic.New(&c, s, func(w *httpclient.Settings) {
				if server != nil {
					w.Base = server
				}
			})
		},
	})
}
