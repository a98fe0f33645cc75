package starlark

import (
	"runtime/debug"
	"runtime/metrics"
	"syscall"
	"time"
)

const (
	exitMemory    = 77                   // exit code of a child that exceeded its memory limit
	heapInterval  = 2 * time.Millisecond // between two checks of the heap
	mappingMargin = 1 << 30              // bytes that may be mapped beyond the limit
)

// watchMemory ends the process when its heap grows by more than most bytes, or the stack
// by half of that (deeply nested values need one; the runtime then reports an overflow).
// The garbage collector works harder near the limit, so that live values rather than
// garbage end a program. A single value far beyond the limit is refused by the system
// where possible, since no check of the heap may run while it is created. The margin
// makes the checks come first otherwise: the runtime fails in many ways when it gets no
// memory.
func watchMemory(most uint64) {
	heap := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	metrics.Read(heap)
	base := heap[0].Value.Uint64()
	debug.SetMemoryLimit(int64(base + most/2))
	debug.SetMaxStack(int(most / 2))
	limitData(2*most + mappingMargin)
	go func() {
		for {
			time.Sleep(heapInterval)
			metrics.Read(heap)
			if heap[0].Value.Uint64() > base+most {
				syscall.Exit(exitMemory)
			}
		}
	}()
}
