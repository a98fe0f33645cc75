//go:build !race

package report_test

// raced says that the race detector makes all much slower.
const raced = false
