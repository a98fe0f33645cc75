//go:build race

package schema_test

// slower is the factor by which a test may exceed the promised time under the
// race detector.
const slower = 10
