//go:build !faults

package failpoint

// On says whether this build has failpoints.
const On = false

// At is a moment at which a run may die. It does nothing in this build.
func At(Point) {}

// Armed says whether this process watches for a point. In this build none does.
func Armed(Point) bool { return false }
