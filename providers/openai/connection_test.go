package openai_test

import (
	"testing"

	"github.com/pexctl/pex/engine/model"
	"github.com/pexctl/pex/internal/httpclient"
	"github.com/pexctl/pex/providers/modelhttp/modelhttptest"
	"github.com/pexctl/pex/providers/openai"
)

// site returns a server for the tests of connections.
func site() modelhttptest.Provider {
	return modelhttptest.Provider{
		Reply: `{"id":"c","choices":[{"index":0,"message":{"role":"assistant","content":"pong"},"finish_reason":"stop"}],"usage":{"prompt_tokens":9,"completion_tokens":1,"total_tokens":10}}`,
		New: func(s model.Settings, change func(*httpclient.Settings)) (model.Model, error) {
			c := defaults()
			return openai.New(&c, s, change)
		},
	}
}

func TestDeadConnections(t *testing.T) { modelhttptest.DeadConnections(t, site()) }

func BenchmarkCall(b *testing.B) { modelhttptest.Benchmark(b, site()) }
