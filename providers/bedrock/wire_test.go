package bedrock_test

import (
	"testing"

	"github.com/pexctl/pex/engine/model"
	"github.com/pexctl/pex/internal/wire"
	"github.com/pexctl/pex/providers/bedrock"
	"github.com/pexctl/pex/providers/call/calltest"
)

// site is a server as the wire sees it.
func site() calltest.Site {
	return calltest.Site{
		Reply: `{"output":{"message":{"role":"assistant","content":[{"text":"pong"}]}},"stopReason":"end_turn","usage":{"inputTokens":9,"outputTokens":1,"totalTokens":10}}`,
		New: func(s model.Settings, change func(*wire.Settings)) (model.Model, error) {
			c := defaults()
			return bedrock.New(&c, s, change)
		},
	}
}

func TestDeadConnections(t *testing.T) { calltest.DeadConnections(t, site()) }

func BenchmarkCall(b *testing.B) { calltest.Benchmark(b, site()) }
