//go:build !unix

package bleve_test

// makeFIFO does nothing: the system has no FIFOs in folders.
func makeFIFO(string) error { return nil }
