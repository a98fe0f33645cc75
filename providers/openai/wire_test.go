package openai_test

import (
	"testing"

	"github.com/pexctl/pex/engine/model"
	"github.com/pexctl/pex/internal/wire"
	"github.com/pexctl/pex/providers/call/calltest"
	"github.com/pexctl/pex/providers/openai"
)

// site is a server as the wire sees it.
func site() calltest.Site {
	return calltest.Site{
		Reply: `{"id":"c","choices":[{"index":0,"message":{"role":"assistant","content":"pong"},"finish_reason":"stop"}],"usage":{"prompt_tokens":9,"completion_tokens":1,"total_tokens":10}}`,
		New: func(s model.Settings, change func(*wire.Settings)) (model.Model, error) {
			c := defaults()
			return openai.New(&c, s, change)
		},
	}
}

func TestDeadConnections(t *testing.T) { calltest.DeadConnections(t, site()) }

func BenchmarkCall(b *testing.B) { calltest.Benchmark(b, site()) }
