// Package faultinject injects faults into the calls of a run: a rate-limited model, a tool
// that times out.
//
//	New(faults, recording) -> Faults -> Host(host): models and tools that fail as configured
//	                                 -> Aside: for replay.Options, calls the recording must not answer
//
// Which call fails is decided when calls are issued, on the run's own goroutine, so it is
// the same in every run, even with parallel calls.
//
// A fault does not lose the model's reply: the next call of the same role and step (a
// fallback or retry) gets it, unless the recording has its own. So faults work with
// recordings without faults.
//
// The package must not know specs, files, or how runs are judged.
package faultinject
