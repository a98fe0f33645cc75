//go:build unix && !e2e

package servetest_test

// size returns the size of a test without the build tag e2e.
func size(small, _ int) int { return small }
