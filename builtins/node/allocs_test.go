//go:build !race

package node_test

import (
	"testing"

	"github.com/pexctl/pex/engine/stop"
)

// TestStepAllocationsStayLow limits the allocations per step of a plan-execute-reflect
// run: three model calls, one tool call and the guards of the edges. A short run pays for
// its start and its plan in fewer steps. Raise a limit only with a good reason.
func TestStepAllocationsStayLow(t *testing.T) {
	for k, limit := range map[int]float64{
		5:  149, // 146.8 on 2026-11-23
		20: 133, // 131.1
	} {
		p, h := perProgram(t), perHost(k)
		got := testing.AllocsPerRun(20, func() {
			if res := runPER(p, h, "r"); res.Status != stop.RunCompleted {
				t.Fatal(res.StopReason)
			}
		}) / float64(k)
		t.Logf("%.1f allocations per step of %d", got, k)
		if got > limit {
			t.Errorf("%.1f allocations per step of %d, want at most %.1f", got, k, limit)
		}
	}
}
