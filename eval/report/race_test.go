//go:build race

package fold_test

// raced says that the race detector makes all much slower.
const raced = true
