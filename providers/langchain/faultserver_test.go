package langchain_test

import (
	"os"
	"testing"

	"github.com/pexctl/pex/engine/model"
	"github.com/pexctl/pex/internal/faultserver"
	"github.com/pexctl/pex/internal/httpclient"
	"github.com/pexctl/pex/providers/langchain"
)

const faultyUsage = `"usage":{"prompt_tokens":7171,"completion_tokens":7171,"total_tokens":14342}`

// faultyFormats are the protocols by backend, without tool calls.
func faultyFormats() map[string]faultserver.Format {
	return map[string]faultserver.Format{
		"ernie": {
			Whole: `{"id":"c","result":"` + faultserver.Answer + `","finish_reason":"normal",` + faultyUsage + `}`,
			Empty: `{"id":"c"}`,
			Error: `{"error_code":1,"error_msg":"injected"}`,
		},
	}
}

func faultyMaker(backend string) faultserver.Maker {
	return func(s model.Settings, change func(*httpclient.Settings)) (model.Model, error) {
		c := of(backend)
		return langchain.New(&c, s, change)
	}
}

// TestServerFaults makes fewer calls than other providers, since all backends share the same transport.
func TestServerFaults(t *testing.T) {
	for name, f := range faultyFormats() {
		t.Run(name, func(t *testing.T) {
			if os.Getenv("PEX_FAULT_CALLS") == "" {
				t.Setenv("PEX_FAULT_CALLS", "200")
			}
			faultserver.Run(t, f, faultyMaker(name))
		})
	}
}

func TestServerFaultsOnClock(t *testing.T) {
	for name, f := range faultyFormats() {
		t.Run(name, func(t *testing.T) { faultserver.RunOnClock(t, f, faultyMaker(name)) })
	}
}

func TestServerFaultsInMemory(t *testing.T) {
	for name, f := range faultyFormats() {
		t.Run(name, func(t *testing.T) { faultserver.RunInMemory(t, f, faultyMaker(name)) })
	}
}
