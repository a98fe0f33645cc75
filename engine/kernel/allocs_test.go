//go:build !race

package kernel_test

import (
	"testing"

	"github.com/pexctl/pex/engine/journal"
)

// TestAnEffectAllocatesLittle limits the allocations of an effect in memory. If it fails,
// every effect has become more expensive: find out why with -benchmem and an allocation
// profile, and raise the limit only with a good reason.
func TestAnEffectAllocatesLittle(t *testing.T) {
	const most = 2.2 // 2.05 on 2026-11-23
	n := 1000
	got := testing.AllocsPerRun(20, func() {
		if _, err := run(&journal.Memory{}, effectList(n)); err != nil {
			t.Fatal(err)
		}
	}) / float64(n)
	if got > most {
		t.Errorf("an effect makes %.2f allocations, %.2f are allowed", got, most)
	}
}
