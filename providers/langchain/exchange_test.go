package langchain_test

import (
	"maps"
	"net/http"
	"testing"

	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/component"
	"github.com/pexctl/pex/engine/enginetest"
	"github.com/pexctl/pex/internal/wire"
	"github.com/pexctl/pex/providers/langchain"
)

// building makes models of a backend.
func building(backend string) func(engine.ModelSettings, http.RoundTripper, string) (engine.Model, error) {
	return func(s engine.ModelSettings, server http.RoundTripper, _ string) (engine.Model, error) {
		c := of(backend)
		if backend == "cloudflare" {
			c.AccountID.Bind(func(lookup component.Lookup) []string {
				id, _ := lookup("env", "CLOUDFLARE_ACCOUNT_ID")
				return []string{id.(string)}
			})
		}
		return langchain.New(&c, s, func(w *wire.Settings) {
			if server != nil {
				w.Base = server
			}
		})
	}
}

const noThoughts = "an answer has no field for thoughts"

// unable adds to what no backend can do.
func unable(more map[string]string) map[string]string {
	const noCalls = "provider langchain has no tool calls"
	all := map[string]string{"tools": noCalls, "streamed_tools": noCalls}
	maps.Copy(all, more)
	return all
}

func TestExchangesOfCloudflare(t *testing.T) {
	enginetest.ExchangeSuite(t, enginetest.Subject{
		Name: "langchain_cloudflare", Key: "CLOUDFLARE_API_TOKEN", Model: "@cf/meta/llama-3.1-8b-instruct",
		Env:   map[string]string{"CLOUDFLARE_ACCOUNT_ID": "account"},
		Build: building("cloudflare"),
		Skip:  unable(map[string]string{"stop_sequence": "Workers AI has no field for stop sequences", "thinking": noThoughts}),
	})
}

func TestExchangesOfErnie(t *testing.T) {
	const withStatus200 = "Qianfan refuses with status 200 and a number, which TestFailures has: the suite wants a status that says so"
	enginetest.ExchangeSuite(t, enginetest.Subject{
		Name: "langchain_ernie", Key: "ERNIE_ACCESS_TOKEN", Model: "completions_pro",
		Build: building("ernie"),
		Skip: unable(map[string]string{
			"temperature": "Qianfan takes no temperature of 0", "thinking": noThoughts,
			"wrong_key": withStatus200, "unknown_model": withStatus200,
		}),
	})
}

func TestExchangesOfHuggingFace(t *testing.T) {
	enginetest.ExchangeSuite(t, enginetest.Subject{
		Name: "langchain_huggingface", Key: "HF_TOKEN", Model: "meta-llama/Llama-3.1-8B-Instruct", Thinking: "openai/gpt-oss-20b",
		Build: building("huggingface"),
		Skip:  unable(nil),
	})
}

func TestExchangesOfLlamafile(t *testing.T) {
	enginetest.ExchangeSuite(t, enginetest.Subject{
		Name: "langchain_llamafile", Model: "LLaMA_CPP",
		Build: building("llamafile"),
		Skip: unable(map[string]string{
			"thinking":  "a completion has no field for thoughts",
			"wrong_key": "a llamafile asks for no key", "unknown_model": "a llamafile has one model, whatever is asked for",
		}),
	})
}

func TestExchangesOfMaritaca(t *testing.T) {
	const untold = "the documentation tells of no refusal but 429: TestFailures has the form that clients expect of others"
	enginetest.ExchangeSuite(t, enginetest.Subject{
		Name: "langchain_maritaca", Key: "MARITACA_API_KEY", Model: "sabia-3",
		Build: building("maritaca"),
		Skip:  unable(map[string]string{"thinking": noThoughts, "wrong_key": untold, "unknown_model": untold}),
	})
}
