package langchain_test

import (
	"os"
	"testing"

	"github.com/pexctl/pex/engine/model"
	"github.com/pexctl/pex/internal/faultserver"
	"github.com/pexctl/pex/internal/httpclient"
	"github.com/pexctl/pex/providers/langchain"
)

const chaosUsage = `"usage":{"prompt_tokens":7171,"completion_tokens":7171,"total_tokens":14342}`

// chaosFormats are the protocols by backend, without tool calls.
func chaosFormats() map[string]faultserver.Format {
	return map[string]faultserver.Format{
		"ernie": {
			Whole: `{"id":"c","result":"` + faultserver.Answer + `","finish_reason":"normal",` + chaosUsage + `}`,
			Empty: `{"id":"c"}`,
			Error: `{"error_code":1,"error_msg":"chaos"}`,
		},
	}
}

func chaosMaker(backend string) faultserver.Maker {
	return func(s model.Settings, change func(*httpclient.Settings)) (model.Model, error) {
		c := of(backend)
		return langchain.New(&c, s, change)
	}
}

// TestChaos makes fewer calls than other providers, since all backends share the same transport.
func TestChaos(t *testing.T) {
	for name, f := range chaosFormats() {
		t.Run(name, func(t *testing.T) {
			if os.Getenv("PEX_CHAOS_CALLS") == "" {
				t.Setenv("PEX_CHAOS_CALLS", "200")
			}
			faultserver.Run(t, f, chaosMaker(name))
		})
	}
}

func TestChaosOnClock(t *testing.T) {
	for name, f := range chaosFormats() {
		t.Run(name, func(t *testing.T) { faultserver.RunOnClock(t, f, chaosMaker(name)) })
	}
}

func TestChaosInMemory(t *testing.T) {
	for name, f := range chaosFormats() {
		t.Run(name, func(t *testing.T) { faultserver.RunInMemory(t, f, chaosMaker(name)) })
	}
}
