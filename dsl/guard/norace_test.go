//go:build !race

package guard_test

// slower is the factor by which a test may exceed the promised time.
const slower = 1
