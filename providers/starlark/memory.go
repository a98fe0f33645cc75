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

// watchMemory exits the process when its heap grows by more than limit bytes, or its stack by half of that. The garbage
// collector works harder near the limit, so that live values rather than garbage end a program. On Linux the system
// also limits the memory, because no check of the heap may run while a single huge value is created. Its limit has a
// margin, so that the heap check usually comes first: the runtime fails in many different ways when it gets no memory.
func watchMemory(limit uint64) {
	heap := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	metrics.Read(heap)
	base := heap[0].Value.Uint64()
	debug.SetMemoryLimit(int64(base + limit/2))
	debug.SetMaxStack(int(limit / 2))
	limitData(2*limit + mappingMargin)
	go func() {
		for {
			time.Sleep(heapInterval)
			metrics.Read(heap)
			if heap[0].Value.Uint64() > base+limit {
				syscall.Exit(exitMemory)
			}
		}
	}()
}
