//go:build race

package stat_test

// raced reports whether the race detector is on, which makes tests much slower.
const raced = true
