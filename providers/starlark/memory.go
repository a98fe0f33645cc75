package starlark

import (
	"runtime/debug"
	"runtime/metrics"
	"syscall"
	"time"
)

const (
	exitMemory = 77                   // how a child ends that took too much memory
	often      = 2 * time.Millisecond // between two looks at the heap
	spare      = 1 << 30              // bytes the system grants beyond the bound
)

// watchMemory ends the process when its heap grows by more than most bytes, or
// the stack by half of that (deeply nested values need one; the runtime says
// overflow then).
// The collector works harder towards the bound, so that what ends a program is
// what it holds rather than what it dropped. A single value far beyond the
// bound is refused by the system, where it can: while it is made no look at the
// heap may come through. So much is spare that the looks come first otherwise:
// the runtime ends in many ways where it gets nothing.
func watchMemory(most uint64) {
	heap := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	metrics.Read(heap)
	base := heap[0].Value.Uint64()
	debug.SetMemoryLimit(int64(base + most/2))
	debug.SetMaxStack(int(most / 2))
	limitData(2*most + spare)
	go func() {
		for {
			time.Sleep(often)
			metrics.Read(heap)
			if heap[0].Value.Uint64() > base+most {
				syscall.Exit(exitMemory)
			}
		}
	}()
}
