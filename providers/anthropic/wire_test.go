package anthropic_test

import (
	"testing"

	"github.com/pexctl/pex/engine/model"
	"github.com/pexctl/pex/internal/wire"
	"github.com/pexctl/pex/providers/anthropic"
	"github.com/pexctl/pex/providers/call/calltest"
)

// site is a server as the wire sees it.
func site() calltest.Site {
	return calltest.Site{
		Reply: `{"id":"m","type":"message","role":"assistant","content":[{"type":"text","text":"pong"}],"stop_reason":"end_turn","usage":{"input_tokens":9,"output_tokens":1}}`,
		New: func(s model.Settings, change func(*wire.Settings)) (model.Model, error) {
			c := defaults()
			return anthropic.New(&c, s, change)
		},
	}
}

func TestDeadConnections(t *testing.T) { calltest.DeadConnections(t, site()) }

func BenchmarkCall(b *testing.B) { calltest.Benchmark(b, site()) }
