//go:build race

package stat_test

// raced says that the race detector makes all much slower.
const raced = true
