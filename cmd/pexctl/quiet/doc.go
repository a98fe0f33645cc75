// Package quiet discards what libraries write to the standard logger, from before
// the first of them is initialized: one of them logs at initialization that it
// could not reserve address space, which is irrelevant to the user.
//
// Go initializes packages whose imports are ready in the order of their paths.
// This package imports only the standard library, and its path comes before those
// of the libraries that log.
package quiet
