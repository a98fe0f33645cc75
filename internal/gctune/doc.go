// Package gctune configures the garbage collector for a process that usually ends soon: while the heap is small, it is collected
// less often than by default. A command such as vet then ends before the first collection.
//
// The heap may grow to 24 MB (13 MB after LongRunning) or to what GOGC=100 allows, whichever is more. GOGC is computed from the previous collection, so
// a memory limit holds a heap that grows fast before the next one. The limit never causes more collections than GOGC=100:
// it leaves room for everything that is not heap, such as the stacks of many goroutines. The environment variables GOGC
// and GOMEMLIMIT take precedence.
//
// Go initializes packages whose imports are ready in the order of their paths. This package imports only the standard
// library, so most of the program is initialized after it.
package gctune
