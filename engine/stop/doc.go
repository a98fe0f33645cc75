// Package stop says how and why runs end: the RunStatus, the Reason with its Code
// and the place in the spec, and the errors that end a run from within a node.
package stop
