//go:build !race

package kernel_test

import (
	"testing"

	"github.com/pexctl/pex/engine/journal"
)

// TestAnEffectAllocatesLittle bounds what an effect in memory allocates. A test
// that fails here has made every effect dearer: find out where (-benchmem and a
// profile of allocations tell), and raise the number only for something worth it.
func TestAnEffectAllocatesLittle(t *testing.T) {
	const most = 5.2 // 5.05 on 2026-11-22
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
