// Package failpoint names the moments at which a run may die, for the tests
// that let it die there.
//
//	failpoint.At(failpoint.ResultAfter)
//
// In an ordinary build At is an empty function that the compiler leaves out. In
// a build with the tag faults it kills the process, as kill -9 does, when it
// passes the point that PEX_FAILPOINT=NAME[:N] names for the N-th time; with
// PEX_FAILPOINTS_PASSED=FILE it adds the name of each point that is passed to
// that file.
//
// It must not know what happens around a point.
package failpoint
