package gctune

import (
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
)

// heapTarget is the heap size in bytes below which collections are rare.
const heapTarget = 24 << 20

// maxPercent bounds GOGC. Go's minimum heap of 4 MB grows with it.
const maxPercent = 600

// Enabled reports whether the collector is set up here and not by the environment.
var Enabled = enable()

func enable() bool {
	if os.Getenv("GOGC") != "" || os.Getenv("GOMEMLIMIT") != "" {
		return false
	}
	debug.SetGCPercent(maxPercent)
	debug.SetMemoryLimit(limitFor(0))
	watch(maxPercent)
	return true
}

// cycle becomes garbage in each collection.
type cycle struct{ percent int }

// watch adjusts the collector after each collection. percent is the current setting.
func watch(percent int) {
	runtime.SetFinalizer(&cycle{percent}, func(c *cycle) {
		live := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
		metrics.Read(live)
		next := percentFor(live[0].Value.Uint64())
		if next != c.percent {
			debug.SetGCPercent(next)
		}
		debug.SetMemoryLimit(limitFor(live[0].Value.Uint64()))
		watch(next)
	})
}

// percentFor returns the GOGC with which a heap with live bytes grows to heapTarget before the next collection, between
// Go's default and maxPercent.
func percentFor(live uint64) int {
	if live == 0 {
		return maxPercent
	}
	return int(min(maxPercent, max(100, (heapTarget-min(live, heapTarget))*100/live)))
}

// minLimit is the smallest memory limit in bytes.
const minLimit = 36 << 20

// limitFor returns the memory limit for a heap with live bytes. It holds a heap that grows
// fast after a collection of a small one, until the next call of watch.
func limitFor(live uint64) int64 { return int64(max(minLimit, 2*min(live, 1<<60))) }
