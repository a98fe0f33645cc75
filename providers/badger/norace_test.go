//go:build !race

package badger_test

const raceDetector = false
