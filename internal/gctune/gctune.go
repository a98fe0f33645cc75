package gctune

import (
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"sync/atomic"
)

// Heap sizes in bytes below which collections are rare.
const (
	shortTarget = 24 << 20 // for commands that usually end before the first collection
	longTarget  = 13 << 20 // for commands that run longer
	serveTarget = 96 << 20 // for servers
)

// heapTarget is the one in use.
var heapTarget atomic.Uint64

// maxPercent bounds GOGC: Go's minimum heap of 4 MB grows with it.
func maxPercent(target uint64) int { return int(target * 100 / (4 << 20)) }

// The smallest memory limits in bytes.
const (
	minLimit      = 36 << 20
	minServeLimit = 128 << 20
)

// smallest is the one in use.
var smallest atomic.Int64

// Enabled reports whether this package configured the collector, and not the environment.
var Enabled = enable()

func enable() bool {
	if os.Getenv("GOGC") != "" || os.Getenv("GOMEMLIMIT") != "" {
		return false
	}
	heapTarget.Store(shortTarget)
	smallest.Store(minLimit)
	debug.SetGCPercent(maxPercent(shortTarget))
	debug.SetMemoryLimit(minLimit)
	watch(maxPercent(shortTarget))
	return true
}

// LongRunning saves memory: a small heap is collected more often from now on. It is for commands that run for seconds,
// where collections take a small part of the time.
func LongRunning() {
	if Enabled && heapTarget.CompareAndSwap(shortTarget, longTarget) {
		debug.SetGCPercent(maxPercent(longTarget)) // until the next collection
	}
}

// Serving saves time: a heap of a server may grow larger before it is collected.
func Serving() {
	if Enabled && heapTarget.CompareAndSwap(shortTarget, serveTarget) {
		smallest.Store(minServeLimit)
		debug.SetMemoryLimit(minServeLimit)
		debug.SetGCPercent(maxPercent(serveTarget)) // until the next collection
	}
}

// cycle becomes garbage in each collection. It has a pointer, because the runtime puts small objects without pointers
// into blocks that they share, and does not finalize a block as long as any object in it is alive.
type cycle struct {
	percent int
	_       *cycle
}

// watch adjusts the collector after each collection. percent is the current setting.
func watch(percent int) {
	runtime.SetFinalizer(&cycle{percent: percent}, func(c *cycle) {
		m := measure()
		next := m.percent(heapTarget.Load())
		if next != c.percent {
			debug.SetGCPercent(next)
		}
		debug.SetMemoryLimit(m.limit())
		watch(next)
	})
}

// memory is the memory of the process after a collection, in bytes.
type memory struct {
	live   uint64 // heap that the collection retained
	roots  uint64 // stacks and globals that it scanned
	mapped uint64 // everything that counts towards the memory limit
	heap   uint64 // part of mapped: objects, and memory that is free for objects
}

func measure() memory {
	names := [...]string{
		"/gc/heap/live:bytes", "/gc/scan/stack:bytes", "/gc/scan/globals:bytes",
		"/memory/classes/total:bytes", "/memory/classes/heap/released:bytes",
		"/memory/classes/heap/objects:bytes", "/memory/classes/heap/free:bytes",
	}
	var s [len(names)]metrics.Sample
	for i, name := range names {
		s[i].Name = name
	}
	metrics.Read(s[:])
	value := func(i int) uint64 { return s[i].Value.Uint64() }
	return memory{
		live: value(0), roots: value(1) + value(2),
		mapped: value(3) - value(4),
		heap:   value(5) + value(6),
	}
}

// percent returns the GOGC with which the heap grows to target before the next collection, between Go's default
// and maxPercent.
func (m memory) percent(target uint64) int {
	if m.live == 0 {
		return maxPercent(target)
	}
	return min(maxPercent(target), max(100, int((target-min(m.live, target))*100/m.live)))
}

// limit returns the memory limit. It is never below the memory in use, and the heap below it may grow as much as GOGC=100
// allows.
func (m memory) limit() int64 {
	growth := m.live + m.roots
	room := m.mapped - m.heap + m.live + growth
	room += room/32 + 1<<20 // the runtime stays 3 percent, or 1 MB, below the limit
	return max(smallest.Load(), int64(max(m.mapped, room)))
}
