// Package syncbuffer has a buffer for the output of processes and logs in tests, which is read
// while it is written to.
//
//	process --Write--> Buffer --String--> test
//
// It knows nothing of what is in it.
package syncbuffer
