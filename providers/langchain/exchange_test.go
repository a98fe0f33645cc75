package langchain_test

import (
	"maps"
	"net/http"
	"testing"

	"github.com/pexctl/pex/engine/enginetest"
	"github.com/pexctl/pex/engine/model"
	"github.com/pexctl/pex/internal/httpclient"
	"github.com/pexctl/pex/providers/langchain"
)

// building returns a function that builds models of a backend.
func building(backend string) func(model.Settings, http.RoundTripper, string) (model.Model, error) {
	return func(s model.Settings, server http.RoundTripper, _ string) (model.Model, error) {
		c := of(backend)
		return langchain.New(&c, s, func(w *httpclient.Settings) {
			if server != nil {
				w.Base = server
			}
		})
	}
}

const noThoughts = "a reply has no field for thinking"

// unable returns skip reasons for what no backend supports, and more.
func unable(more map[string]string) map[string]string {
	const noCalls = "provider langchain has no tool calls"
	all := map[string]string{"tools": noCalls, "streamed_tools": noCalls}
	maps.Copy(all, more)
	return all
}

func TestExchangesOfErnie(t *testing.T) {
	const withStatus200 = "Qianfan returns errors with status 200 and a code (see TestFailures); the suite requires an error status"
	enginetest.ExchangeSuite(t, enginetest.Provider{
		Name: "langchain_ernie", Key: "ERNIE_ACCESS_TOKEN", Model: "completions_pro",
		Build: building("ernie"),
		Skip: unable(map[string]string{
			"temperature": "Qianfan rejects a temperature of 0", "thinking": noThoughts,
			"wrong_key": withStatus200, "unknown_model": withStatus200,
		}),
	})
}
