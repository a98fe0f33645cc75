//go:build unix && !race

package servetest_test

// raceFlags build pexctl with the race detector if the tests have it.
var raceFlags []string
