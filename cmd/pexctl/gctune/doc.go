// Package gctune sets up the garbage collector for a process that usually ends soon: while the heap is small, it is collected
// less often than Go's default does. A command such as vet then ends before the first collection.
//
// The heap may grow to heapTarget, or to twice the live heap as by default, whichever is more. A memory limit holds a heap
// that grows fast in between. The environment variables
// GOGC and GOMEMLIMIT take precedence.
//
// Go initializes packages whose imports are ready in the order of their paths. This package imports only the standard
// library, so most of the program is initialized after it.
package gctune
