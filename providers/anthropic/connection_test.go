package anthropic_test

import (
	"testing"

	"github.com/pexctl/pex/engine/model"
	"github.com/pexctl/pex/internal/httpclient"
	"github.com/pexctl/pex/providers/anthropic"
	"github.com/pexctl/pex/providers/modelhttp/modelhttptest"
)

// site returns a server for the tests of connections.
func site() modelhttptest.Provider {
	return modelhttptest.Provider{
		Reply: `{"id":"m","type":"message","role":"assistant","content":[{"type":"text","text":"pong"}],"stop_reason":"end_turn","usage":{"input_tokens":9,"output_tokens":1}}`,
		New: func(s model.Settings, change func(*httpclient.Settings)) (model.Model, error) {
			c := defaults()
			return anthropic.New(&c, s, change)
		},
	}
}

func TestDeadConnections(t *testing.T) { modelhttptest.DeadConnections(t, site()) }

func BenchmarkCall(b *testing.B) { modelhttptest.Benchmark(b, site()) }
