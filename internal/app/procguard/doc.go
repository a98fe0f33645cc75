// Package procguard kills what a killed process leaves behind. A killed process cannot
// end its children, and the kernel does not end theirs. So the first command of a run
// starts a guard, a second pexctl process. It receives the process groups, detects the
// end of its parent by the end of a pipe, and kills the rest.
//
// It knows nothing of runs.
package procguard
