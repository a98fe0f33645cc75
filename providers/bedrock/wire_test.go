package bedrock_test

import (
	"testing"

	"github.com/pexctl/pex/engine/model"
	"github.com/pexctl/pex/internal/httpclient"
	"github.com/pexctl/pex/providers/bedrock"
	"github.com/pexctl/pex/providers/modelhttp/modelhttptest"
)

// provider is this provider with a reply of its server.
func provider() modelhttptest.Provider {
	return modelhttptest.Provider{
		Reply: `{"output":{"message":{"role":"assistant","content":[{"text":"pong"}]}},"stopReason":"end_turn","usage":{"inputTokens":9,"outputTokens":1,"totalTokens":10}}`,
		New: func(s model.Settings, change func(*httpclient.Settings)) (model.Model, error) {
			c := defaults()
			return bedrock.New(&c, s, change)
		},
	}
}

func TestDeadConnections(t *testing.T) { modelhttptest.DeadConnections(t, provider()) }

func BenchmarkCall(b *testing.B) { modelhttptest.Benchmark(b, provider()) }
