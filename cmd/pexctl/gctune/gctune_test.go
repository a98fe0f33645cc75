package gctune

import "testing"

func TestHeapGrowsToItsTargetOrToTwiceTheLiveHeap(t *testing.T) {
	for _, c := range []struct {
		liveMB uint64
		want   int
	}{{0, 600}, {1, 600}, {4, 500}, {8, 200}, {12, 100}, {20, 100}, {32, 100}, {1000, 100}} {
		if got := percentFor(c.liveMB << 20); got != c.want {
			t.Errorf("%d MB live: %d, want %d", c.liveMB, got, c.want)
		}
	}
}

func TestLimitLeavesRoomForTheLiveHeap(t *testing.T) {
	for live, want := range map[uint64]int64{0: 36, 12: 36, 20: 40, 24: 48, 1000: 2000} {
		if got := limitFor(live << 20); got != want<<20 {
			t.Errorf("%d MB live: %d MB, want %d", live, got>>20, want)
		}
	}
}
