package http_test

import (
	"testing"

	"github.com/pexctl/pex/engine/model"
	"github.com/pexctl/pex/internal/httpclient"
	"github.com/pexctl/pex/providers/http"
	"github.com/pexctl/pex/providers/modelhttp/modelhttptest"
)

// provider is this provider with a reply of its server.
func provider() modelhttptest.Provider {
	return modelhttptest.Provider{
		Reply: `{"id":"c","choices":[{"index":0,"message":{"role":"assistant","content":"pong"},"finish_reason":"stop"}],"usage":{"prompt_tokens":9,"completion_tokens":1,"total_tokens":10}}`,
		New: func(s model.Settings, change func(*httpclient.Settings)) (model.Model, error) {
			c := of("openai/v1/chat/completions")
			return http.New(&c, s, change)
		},
	}
}

func TestDeadConnections(t *testing.T) { modelhttptest.DeadConnections(t, provider()) }

func BenchmarkCall(b *testing.B) { modelhttptest.Benchmark(b, provider()) }
