//go:build !faults

package failpoint

// On reports whether this build has failpoints.
const On = false

// At marks a point at which tests can kill a run. It does nothing in this build.
func At(Point) {}

// Enabled reports whether this process uses a point: never in this build.
func Enabled(Point) bool { return false }
