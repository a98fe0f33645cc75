// Package failpoint names the points at which tests can kill a run.
//
//	failpoint.At(failpoint.ResultAfter)
//
// In an ordinary build At is an empty function. In a build with the tag faults it kills
// the process, like kill -9, on the N-th pass of the point that PEX_FAILPOINT=NAME[:N]
// names; with PEX_FAILPOINTS_PASSED=FILE it appends the name of each passed point to the
// file.
//
// It must not know what happens around a point.
package failpoint
