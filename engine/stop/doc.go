// Package stop defines how and why runs end: the RunStatus, the Reason with its Code and
// spec path, and the errors with which a node ends a run.
package stop
