package node_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/exprenv"
)

// Earlier steps are pairs too: the newest are kept, the others are dropped.
func TestEarlierStepsAreCompacted(t *testing.T) {
	for keep := 1; keep <= 4; keep++ {
		m := talker(6, 0)
		runTalker(t, m, engine.Compaction{SlidingWindow: &engine.Window{When: over(0), Keep: keep}})
		for i, req := range m.of("executor") {
			for step := 1; step <= i; step++ {
				if got, want := strings.Contains(text(req), fmt.Sprintf("result of goal %d ", step)), step > i-keep; got != want {
					t.Errorf("keep %d: the prompt of step %d contains step %d: %v", keep, i+1, step, got)
				}
			}
		}
	}
}

// A cached summary is not used if the rule's condition does not hold.
func TestCachedSummaryIsUsedOnlyIfItsConditionHolds(t *testing.T) {
	plain := talker(5, 0)
	runTalker(t, plain, engine.Compaction{})
	size := tokens(plain.of("executor")[2])
	m := talker(5, 0)
	runTalker(t, m, engine.Compaction{Summarize: &engine.Summarization{
		When: when("at step 3", func(m exprenv.Memory) bool { return m.Tokens == size }), Keep: 1,
	}})
	if asked := m.of("summarizer"); len(asked) != 1 || asked[0].Step != "goal 3" {
		t.Fatalf("%d summaries", len(asked))
	}
	for i, req := range m.of("executor") {
		if got, want := strings.Contains(text(req), "notes 1"), i == 2; got != want {
			t.Errorf("the prompt of step %d contains the summary: %v", i+1, got)
		}
		for step := 1; step <= i; step++ {
			if got, want := strings.Contains(text(req), fmt.Sprintf("result of goal %d ", step)), i != 2 || step > 1; got != want {
				t.Errorf("the prompt of step %d contains step %d: %v", i+1, step, got)
			}
		}
	}
}
