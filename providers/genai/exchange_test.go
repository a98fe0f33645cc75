package genai_test

import (
	"net/http"
	"testing"

	"github.com/pexctl/pex/engine/enginetest"
	"github.com/pexctl/pex/engine/model"
	"github.com/pexctl/pex/internal/httpclient"
	"github.com/pexctl/pex/providers/genai"
)

func TestExchanges(t *testing.T) {
	enginetest.ExchangeSuite(t, enginetest.Provider{
		Name: "googleai", Key: "GEMINI_API_KEY", Model: "gemini-2.5-flash", Thinking: "gemini-2.5-flash",
		Build: func(s model.Settings, server http.RoundTripper, scenario string) (model.Model, error) {
			c := defaults()
			budget := 0 // the other scenarios need their few tokens for the answer
			if c.ThinkingBudget = &budget; scenario == "thinking" {
				budget, c.IncludeThoughts = 1024, true
			}
			return genai.New(&c, s, func(w *httpclient.Settings) {
				if server != nil {
					w.Base = server
				}
			})
		},
	})
}
