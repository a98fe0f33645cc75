//go:build race

package obedience_test

// raceDetector says that the tests run under the race detector, which is slow.
const raceDetector = true
