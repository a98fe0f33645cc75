//go:build unix && !e2e

package servetest_test

import "testing"

// size returns the size of a test without the build tag e2e.
func size(small, _ int) int { return small }

// alone lets small tests run in parallel.
func alone(t *testing.T) { t.Parallel() }
