package genai_test

import (
	"testing"

	"github.com/pexctl/pex/engine/model"
	"github.com/pexctl/pex/internal/httpclient"
	"github.com/pexctl/pex/providers/genai"
	"github.com/pexctl/pex/providers/modelhttp/modelhttptest"
)

// provider is this provider with a reply of its server.
func provider() modelhttptest.Provider {
	return modelhttptest.Provider{
		Reply: `{"candidates":[{"content":{"role":"model","parts":[{"text":"pong"}]},"finishReason":"STOP"}],"usageMetadata":{"promptTokenCount":9,"candidatesTokenCount":1}}`,
		New: func(s model.Settings, change func(*httpclient.Settings)) (model.Model, error) {
			c := defaults()
			return genai.New(&c, s, change)
		},
	}
}

func TestDeadConnections(t *testing.T) { modelhttptest.DeadConnections(t, provider()) }

func BenchmarkCall(b *testing.B) { modelhttptest.Benchmark(b, provider()) }
