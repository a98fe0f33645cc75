//go:build !race

package feed_test

const raceDetector = false
