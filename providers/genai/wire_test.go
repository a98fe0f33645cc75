package genai_test

import (
	"testing"

	"github.com/pexctl/pex/engine/model"
	"github.com/pexctl/pex/internal/wire"
	"github.com/pexctl/pex/providers/call/calltest"
	"github.com/pexctl/pex/providers/genai"
)

// site is a server as the wire sees it.
func site() calltest.Site {
	return calltest.Site{
		Reply: `{"candidates":[{"content":{"role":"model","parts":[{"text":"pong"}]},"finishReason":"STOP"}],"usageMetadata":{"promptTokenCount":9,"candidatesTokenCount":1}}`,
		New: func(s model.Settings, change func(*wire.Settings)) (model.Model, error) {
			c := defaults()
			return genai.New(&c, s, change)
		},
	}
}

func TestDeadConnections(t *testing.T) { calltest.DeadConnections(t, site()) }

func BenchmarkCall(b *testing.B) { calltest.Benchmark(b, site()) }
