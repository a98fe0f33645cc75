// Package faultinject injects faults into the calls of a run: a rate-limited model, a tool
// that times out.
//
//	New(faults, recording) -> Faults -> Host(host): models and tools that fail as configured
//	                                 -> Passthrough: for replay.Options, calls the recording must not answer
//
// Faults are assigned to calls when the calls are issued, on the run's own goroutine, so they hit the same calls
// in every run, even if calls run in parallel.
//
// A fault does not lose the model's reply: the next call of the same role and step (a
// fallback or retry) gets it, unless the recording has its own. So faults work with
// recordings without faults.
//
// The package must not depend on specs, files, or the evaluation of runs.
package faultinject
