//go:build race

package report_test

// raced reports whether the race detector is on, which makes tests much slower.
const raced = true
