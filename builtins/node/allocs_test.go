//go:build !race

package node_test

import (
	"testing"

	"github.com/pexctl/pex/engine/stop"
)

// TestAStepAllocatesLittle bounds what a step of a plan-execute-reflect run
// allocates: three model calls and a tool call. Raise the number only for
// something worth it.
func TestAStepAllocatesLittle(t *testing.T) {
	const (
		k    = 20
		most = 235.0 // 231.9 on 2026-11-22, 8 of them because Scope is an interface
	)
	p, h := perProgram(t), perHost(k)
	got := testing.AllocsPerRun(20, func() {
		if res := runPER(p, h, "r"); res.Status != stop.RunCompleted {
			t.Fatal(res.StopReason)
		}
	}) / k
	if got > most {
		t.Errorf("a step makes %.1f allocations, %.1f are allowed", got, most)
	}
}
