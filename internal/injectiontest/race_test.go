//go:build race

package injectiontest_test

// raceDetector says that the tests run under the race detector, which is slow.
const raceDetector = true
