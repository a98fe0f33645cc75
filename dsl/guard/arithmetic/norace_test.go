//go:build !race

package arithmetic_test

// slower is how much longer a test may take than the promise.
const slower = 1
