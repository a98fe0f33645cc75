package node_test

import (
	"testing"

	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/journal"
	"github.com/pexctl/pex/engine/model"
	"github.com/pexctl/pex/engine/runtime"
	"github.com/pexctl/pex/engine/stop"
	"github.com/pexctl/pex/engine/tool"
)

// Compaction does not write shared message prefixes to the journal again, so the journal
// grows by little more than the summaries.
func TestCompactionAddsLittleToTheJournal(t *testing.T) {
	size := func(m *listener, c engine.Compaction) (bytes int) {
		p := perProgram(t)
		p.Memory.Compaction = c
		p.Limits.ExecutorMaxIterations, p.Limits.MaxConsecutiveToolCalls = 1000, 1000
		h := engine.Host{Models: map[string]model.Model{"main": m}, Tools: []tool.Binding{{Tool: addTool{}}}}
		j := &journal.Memory{RoundTrip: true}
		if res := runtime.Run(t.Context(), p, perInput, h, runtime.Options{Journal: j}); res.Status != stop.RunCompleted {
			t.Fatal(res.StopReason, res.Error)
		}
		for _, r := range j.Records {
			if err := r.EnsureBody(); err != nil {
				t.Fatal(err)
			}
			bytes += len(r.Body)
		}
		return bytes
	}
	rules := engine.Compaction{
		TruncateToolOutput: &engine.Truncation{When: over(800), MaxBytes: 200},
		Summarize:          &engine.Summarization{When: over(3000), Keep: 4, LLM: "main"},
		SlidingWindow:      &engine.Window{When: over(6000), Keep: 2},
	}
	for name, of := range map[string]func(n int) *listener{
		"turns": func(n int) *listener { return talker(1, n) },
		"steps": func(n int) *listener { return talker(n, 0) },
	} {
		t.Run(name, func(t *testing.T) {
			plain, short := size(of(80), engine.Compaction{}), size(of(80), rules)
			t.Logf("%d bytes, shortened %d", plain, short)
			if short > plain+plain/4 {
				t.Errorf("%d bytes without compaction, %d with it", plain, short)
			}
		})
	}
}
