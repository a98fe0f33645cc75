//go:build linux && !race

package mcptest_test

const raceDetector = false
