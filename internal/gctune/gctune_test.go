package gctune

import "testing"

const mb = 1 << 20

func TestHeapGrowsToItsTargetOrToTwiceTheLiveHeap(t *testing.T) {
	for _, c := range []struct {
		live uint64
		want int
	}{{0, 600}, {1, 600}, {4, 500}, {8, 200}, {12, 100}, {20, 100}, {32, 100}, {1000, 100}} {
		if got := (memory{live: c.live * mb}).percent(shortTarget); got != c.want {
			t.Errorf("%d MB live: %d, want %d", c.live, got, c.want)
		}
	}
}

func TestLimitOfASmallHeapIsTheMinimum(t *testing.T) {
	for _, m := range []memory{{}, {live: 4 * mb, roots: mb, mapped: 16 * mb, heap: 10 * mb}, {live: 12 * mb, roots: mb, mapped: 20 * mb, heap: 18 * mb}} {
		if got := m.limit(); got != minLimit {
			t.Errorf("%+v: %d, want %d", m, got, minLimit)
		}
	}
}

// heapGoal is how the runtime turns a memory limit into the heap size that starts a collection.
func heapGoal(m memory, limit int64) int64 {
	used := int64(m.mapped - m.heap)
	over := max(0, int64(m.mapped)-limit)
	goal := limit - used - over
	return max(goal-max(goal*3/100, mb), int64(m.live))
}

func TestLimitNeverCollectsMoreOftenThanGOGC100(t *testing.T) {
	sizes := []uint64{0, 1, 5, 20, 37, 100, 1000, 20000}
	for _, live := range sizes {
		for _, stacks := range sizes {
			for _, other := range sizes {
				for _, free := range sizes {
					m := memory{live: live * mb, roots: stacks * mb, heap: (live + free) * mb}
					m.mapped = m.heap + (stacks+other)*mb
					want := int64(2*m.live + m.roots)
					if got := heapGoal(m, m.limit()); got < want {
						t.Errorf("live %d MB, stacks %d, other %d, free %d: the heap may grow to %d MB, want %d", live, stacks, other, free, got/mb, want/mb)
					}
				}
			}
		}
	}
}
