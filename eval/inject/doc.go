// Package inject puts faults in the way of the calls of a run: a model that is
// rate limited, a tool that gives no answer in time.
//
//	New(faults, recording) -> Faults -> Host(host): models and tools that fail as told
//	                                 -> Aside: for replay.Options, which calls are not answered
//
// Which call fails is decided as calls are issued, on the run's own goroutine:
// the same one on every run, also where calls run side by side.
//
// What a model would have said is not lost by a fault: the next call of the
// same role for the same step gets it (a fallback, or a call that asks again),
// unless the recording holds an answer of its own for that. So a fault can be
// tried on a recording that knows none.
//
// The package must not know specs, files, or how a run is judged.
package inject
