//go:build !race

package node_test

import (
	"testing"

	"github.com/pexctl/pex/engine/stop"
)

// TestStepAllocationsStayLow limits the allocations per step of a plan-execute-reflect
// run (three model calls and one tool call). Raise the limit only with a good reason.
func TestStepAllocationsStayLow(t *testing.T) {
	const (
		k    = 20
		most = 184.0 // 181.1 on 2026-11-23
	)
	p, h := perProgram(t), perHost(k)
	got := testing.AllocsPerRun(20, func() {
		if res := runPER(p, h, "r"); res.Status != stop.RunCompleted {
			t.Fatal(res.StopReason)
		}
	}) / k
	if got > most {
		t.Errorf("%.1f allocations per step, want at most %.1f", got, most)
	}
}
