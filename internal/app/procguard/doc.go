// Package procguard kills the children of a killed process. A killed process cannot end its children, and the
// kernel does not end them either. So the first command of a run starts a guard, a second pexctl process. It receives
// the process groups, detects the end of its parent by the end of a pipe, and kills the rest.
//
// It knows nothing of runs.
package procguard
