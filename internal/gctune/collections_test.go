package gctune_test

import (
	"runtime"
	"sync"
	"testing"

	"github.com/pexctl/pex/internal/gctune"
)

// blocked is a goroutine with a stack of about 20 kB and 32 kB of data. It keeps a small object of each round.
type blocked struct {
	round, done chan struct{}
	data        [][]byte
	small       []*byte
}

func (b *blocked) run(depth int) byte {
	var frame [1 << 10]byte
	if depth > 0 {
		return b.run(depth-1) + frame[depth]
	}
	for range b.round {
		for i := range b.data {
			b.data[i] = make([]byte, 1<<10)
		}
		b.small = append(b.small, new(byte))
		b.done <- struct{}{}
	}
	return frame[0]
}

// TestBlockedGoroutinesDoNotMultiplyCollections counts the collections while many
// goroutines with data take turns.
func TestBlockedGoroutinesDoNotMultiplyCollections(t *testing.T) {
	if !gctune.Enabled {
		t.Skip("the environment configures the collector")
	}
	const goroutines, rounds = 1000, 20
	round, done := make(chan struct{}), make(chan struct{}, goroutines)
	var wg sync.WaitGroup
	for range goroutines {
		b := &blocked{round: round, done: done, data: make([][]byte, 32)}
		wg.Go(func() { b.run(16) })
	}
	turn := func() {
		for range goroutines {
			round <- struct{}{}
		}
		for range goroutines {
			<-done
		}
	}
	turn()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for range rounds {
		turn()
	}
	runtime.ReadMemStats(&after)
	close(round)
	wg.Wait()
	allocated := (after.TotalAlloc - before.TotalAlloc) >> 20
	collections := after.NumGC - before.NumGC
	t.Logf("%d collections, %d MB allocated, %d MB of heap and %d MB of stacks in use", collections, allocated, after.HeapAlloc>>20, after.StackInuse>>20)
	// With GOGC=100, about 32 MB of data and 32 MB of stacks make one collection per 64 MB.
	if limit := uint32(allocated/32) + 4; collections > limit {
		t.Errorf("%d collections for %d MB, want at most %d", collections, allocated, limit)
	}
}
