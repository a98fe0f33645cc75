//go:build unix && e2e

package servetest_test

import "testing"

// size returns the size of a test with the build tag e2e.
func size(_, full int) int { return full }

// alone lets full tests run one after another, so that their figures do not depend on others.
func alone(*testing.T) {}
