// Package procguard ends what a killed process leaves behind. A process that is
// killed cannot end what it started, and the kernel does not do it for the
// children of its children. So the first command that a run starts brings a guard
// with it: a second process of pexctl, which is sent the process groups that
// there are, sees the end of its parent by the end of a pipe, and kills the rest.
//
// It knows nothing of runs.
package procguard
